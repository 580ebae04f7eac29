import { useUser } from '../../../api/session';
import type { Token } from '../../../api/tokens';
import { remember } from '../../../shared/onboarding/remembered';
import { SecretDialog } from '../../../shared/SecretDialog';
import { Snippets } from '../../../shared/snippets/Snippets';
import { texts } from '../../../texts';

const words = texts.keys.created;

/** Shows the key of a new token, with a first call. */
export function NewKeyDialog({ created, onClose }: { created: Token | undefined; onClose: () => void }) {
  const { id } = useUser();
  const markCopied = () => remember('key-copied', id);
  return (
    <SecretDialog
      title={words.title}
      secret={created?.key}
      hint={words.hint}
      size="lg"
      onCopy={markCopied}
      onClose={onClose}
    >
      {created && <Snippets token={created} secret={created.key} onCopyWithSecret={markCopied} />}
    </SecretDialog>
  );
}
