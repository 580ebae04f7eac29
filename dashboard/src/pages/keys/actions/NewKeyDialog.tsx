import { useUser } from '../../../api/session';
import { CodeExample } from '../../../shared/CodeExample';
import { remember } from '../../../shared/onboarding/remembered';
import { SecretDialog } from '../../../shared/SecretDialog';
import { texts } from '../../../texts';

const words = texts.keys.created;

export function NewKeyDialog({ newKey, onClose }: { newKey: string | undefined; onClose: () => void }) {
  const { id } = useUser();
  const example = `curl ${window.location.origin}/api/usage/token/ \\\n  -H "Authorization: Bearer ${newKey}"`;
  return (
    <SecretDialog
      title={words.title}
      secret={newKey}
      hint={words.hint}
      onCopy={() => remember('key-copied', id)}
      onClose={onClose}
    >
      {newKey && <CodeExample title={words.example} code={example} copyLabel={words.copyExample} />}
    </SecretDialog>
  );
}
