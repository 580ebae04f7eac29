import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useUser } from '../../../api/session';
import type { Token } from '../../../api/tokens';
import { remember } from '../../../shared/onboarding/remembered';
import { SecretDialog } from '../../../shared/SecretDialog';
import { Snippets } from '../../../shared/snippets/Snippets';
import { texts } from '../../../texts';

interface Props {
  /** The dialog is open while this is defined. */
  created: Token | undefined;
  /** Replaces the hint for a new token. */
  hint?: string;
  /** Shown above the first call. */
  children?: ReactNode;
  onClose: () => void;
}

const words = texts.keys.created;

/** Shows the key of a new token, or the new key of a token, with a first call. */
export function NewKeyDialog({ created, hint = words.hint, children, onClose }: Props) {
  const { id } = useUser();
  const markCopied = () => remember('key-copied', id);
  return (
    <SecretDialog
      title={words.title}
      secret={created?.key}
      hint={hint}
      size="lg"
      onCopy={markCopied}
      onClose={onClose}
    >
      {created && (
        <Stack>
          {children}
          <Snippets token={created} secret={created.key} onCopyWithSecret={markCopied} />
        </Stack>
      )}
    </SecretDialog>
  );
}
