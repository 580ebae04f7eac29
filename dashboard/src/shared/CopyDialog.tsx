import { Button, Input, Modal, Stack, Text } from '@mantine/core';
import { COPY_KEYS } from '../shell/commands/shortcut';
import { texts } from '../texts';
import classes from './CopyDialog.module.css';
import { useToCopy } from './copyText';

const { title, hint } = texts.common.copyDialog;

/** Escape would close the dialog below this one. Mantine reads the attribute from the focused element. */
const keepsDialogsOpen = { 'data-mantine-stop-propagation': true };

/** Above all dialogs and drawers of the pages, which have texts to copy. */
const Z_INDEX = 325;

/** Shows a text that the page may not copy, selected, so that the keys of the browser copy it. */
export function CopyDialog() {
  const toCopy = useToCopy();
  // Not kept while the dialog closes: it may be a key.
  const text = toCopy?.text ?? '';
  const end = (isCopied: boolean) => toCopy?.onEnd(isCopied);
  return (
    <Modal
      opened={toCopy !== undefined}
      onClose={() => end(false)}
      title={title}
      zIndex={Z_INDEX}
      withCloseButton={false}
      closeOnEscape={false}
    >
      <Stack
        onKeyDown={({ key }) => {
          if (key === 'Escape') end(false);
        }}
      >
        <Text>{hint(COPY_KEYS)}</Text>
        <Input
          {...keepsDialogsOpen}
          component="textarea"
          multiline
          readOnly
          rows={Math.min(10, Math.max(2, text.split('\n').length))}
          aria-label={title}
          classNames={{ input: classes.text }}
          data-autofocus
          value={text}
          onFocus={(event) => event.currentTarget.select()}
          // After the browser has copied the selection, which is gone with the dialog.
          onCopy={() => setTimeout(() => end(true))}
        />
        <Button {...keepsDialogsOpen} variant="default" onClick={() => end(false)}>
          {texts.common.close}
        </Button>
      </Stack>
    </Modal>
  );
}
