import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconCheck, IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useRotateTokens } from '../../../api/manyTokens';
import type { Token } from '../../../api/tokens';
import { FOCUS_RETURN_MS } from '../../../shared/focus';
import { saveFile } from '../../../shared/saveFile';
import { useBackCloses } from '../../../shared/useBackCloses';
import { texts } from '../../../texts';
import { GraceDialog } from '../actions/GraceDialog';
import { KeyNames } from '../actions/KeyNames';
import { keysFile } from './keysFile';

const words = texts.keys.replaceMany;
const FILE_NAME = 'new-keys.csv';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  /** Called when the new keys are no longer shown. */
  onReplaced: () => void;
  onClose: () => void;
}

/**
 * Asks how long the old keys work, replaces them, and offers the new ones as a file. The second dialog opens after the
 * first one has returned the focus, so that it returns the focus to the same element.
 */
export function ReplaceKeysDialog({ tokens, onReplaced, onClose }: Props) {
  const rotate = useRotateTokens();
  /** The secrets, until the second dialog closes. */
  const [file, setFile] = useState<{ text: string; count: number }>();
  const [isShown, setShown] = useState(false);

  function forget() {
    setFile(undefined);
    setShown(false);
    onReplaced();
  }

  return (
    <>
      <GraceDialog
        of={tokens}
        title={({ length }) => words.title(length)}
        explanation={words.explanation}
        names={(of) => <KeyNames tokens={of} mb={0} />}
        confirm={words.confirm}
        mutation={rotate}
        onReplaced={(of, rotated) => setFile({ text: keysFile(of, rotated), count: rotated.length })}
        onClosed={() => file && setTimeout(() => setShown(true), FOCUS_RETURN_MS)}
        onClose={onClose}
      />
      <NewKeysDialog file={isShown ? file : undefined} onClose={forget} />
    </>
  );
}

interface NewKeysProps {
  /** The dialog is open while this is defined. */
  file: { text: string; count: number } | undefined;
  onClose: () => void;
}

/** Offers the file with the new keys. Only its buttons close it, and if the file was not saved, it asks first. */
function NewKeysDialog({ file, onClose }: NewKeysProps) {
  const [isSaved, setSaved] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useBackCloses(file !== undefined, () => setAsking(!isSaved));

  function save() {
    if (!file) return;
    saveFile(FILE_NAME, new Blob([file.text], { type: 'text/csv;charset=utf-8' }));
    setSaved(true);
    setAsking(false);
  }

  function close() {
    setSaved(false);
    setAsking(false);
    onClose();
  }

  return (
    <Modal
      title={words.newKeys}
      opened={file !== undefined}
      onClose={close}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        {file && <Text>{words.replaced(file.count)}</Text>}
        <Text>{words.once}</Text>
        <Button
          data-autofocus
          leftSection={isSaved ? <IconCheck size={18} /> : <IconDownload size={18} />}
          onClick={save}
        >
          {isSaved ? words.saved : words.save}
        </Button>
        {isAsking && (
          <Text c="var(--mantine-color-error)" role="alert">
            {words.notSaved}
          </Text>
        )}
        <Group grow>
          {isAsking ? (
            <Button color="red" onClick={close}>
              {words.closeAnyway}
            </Button>
          ) : (
            <Button variant="default" onClick={() => (isSaved ? close() : setAsking(true))}>
              {texts.common.secret.done}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
