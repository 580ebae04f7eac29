import { Anchor, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { type Rotated, useRotateToken } from '../../../api/oldKeys';
import type { Token } from '../../../api/tokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { FOCUS_RETURN_MS } from '../../../shared/focus';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { oldKeyRefusalsHref } from '../oldKeyRefusalsHref';
import { DEFAULT_GRACE, endsAtOnce, type GraceChoice, graceChoices, graces } from './grace';
import { NewKeyDialog } from './NewKeyDialog';

interface Props {
  /** The dialog is open while this is defined. */
  token: Token | undefined;
  onClose: () => void;
}

interface Replaced {
  token: Token;
  leaked: boolean;
  /** Keys that earlier rotations replaced still work. */
  hasOthers: boolean;
}

const words = texts.keys.replace;

/**
 * Asks how long the old key works, replaces it, and shows the new one. The second dialog opens after the first one has
 * returned the focus, so that it returns the focus to the same element.
 */
export function ReplaceKeyDialog({ token, onClose }: Props) {
  const rotate = useRotateToken();
  const shown = useLastDefined(token);
  const [choice, setChoice] = useState<GraceChoice>(DEFAULT_GRACE);
  const [replaced, setReplaced] = useState<Replaced>();
  const [isShown, setShown] = useState(false);
  const dangerous = endsAtOnce(choice);

  function close() {
    if (!rotate.isPending) onClose();
  }

  function showNewKey() {
    rotate.reset();
    setChoice(DEFAULT_GRACE);
    if (replaced) setTimeout(() => setShown(true), FOCUS_RETURN_MS);
  }

  function forget() {
    setReplaced(undefined);
    setShown(false);
  }

  function replace(of: Token) {
    const onSuccess = ({ key, masked_key, old_keys }: Rotated) => {
      setReplaced({ token: { ...of, key, masked_key }, leaked: dangerous, hasOthers: old_keys.length > 0 });
      onClose();
    };
    rotate.mutate({ id: of.id, grace: graces[choice] }, { onSuccess });
  }

  return (
    <>
      <Modal
        opened={token !== undefined}
        onClose={close}
        onExitTransitionEnd={showNewKey}
        title={shown && words.title(shown.name)}
      >
        <Stack>
          <Text>{words.explanation}</Text>
          <Radio.Group
            label={words.question}
            value={choice}
            onChange={(next) => {
              setChoice(next as GraceChoice);
              rotate.reset();
            }}
          >
            <Stack gap="sm" mt="xs">
              {graceChoices.map((each) => (
                <Radio
                  key={each}
                  value={each}
                  color={endsAtOnce(each) ? 'red' : undefined}
                  label={words.choices[each].label}
                  description={words.choices[each].hint}
                  data-autofocus={each === choice || undefined}
                />
              ))}
            </Stack>
          </Radio.Group>
          {rotate.error && (
            <Text c="var(--mantine-color-error)" role="alert">
              <FailureMessage error={rotate.error} />
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {texts.common.cancel}
            </Button>
            <Button
              color={dangerous ? 'red' : undefined}
              loading={rotate.isPending}
              onClick={() => shown && replace(shown)}
            >
              {dangerous ? words.confirmLeaked : words.confirm}
            </Button>
          </Group>
        </Stack>
      </Modal>
      <NewKeyDialog
        created={isShown ? replaced?.token : undefined}
        hint={replaced?.leaked ? words.hintLeaked : words.hint}
        onClose={forget}
      >
        {replaced?.leaked && <AfterLeak {...replaced} onLeave={forget} />}
      </NewKeyDialog>
    </>
  );
}

function AfterLeak({ token, hasOthers, onLeave }: Replaced & { onLeave: () => void }) {
  return (
    <div>
      {hasOthers && <Text size="sm">{words.othersWork}</Text>}
      <Anchor component={Link} href={oldKeyRefusalsHref(token.id)} size="sm" onClick={onLeave}>
        {words.showRefused}
      </Anchor>
    </div>
  );
}
