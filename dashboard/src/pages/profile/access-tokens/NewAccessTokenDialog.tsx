import { CodeExample } from '../../../shared/CodeExample';
import { SecretShownOnce } from '../../../shared/SecretShownOnce';
import { texts } from '../../../texts';

const words = texts.profile.accessTokens;

export function NewAccessTokenDialog({ token, onClose }: { token: string | undefined; onClose: () => void }) {
  const example = `curl ${window.location.origin}/api/user/self \\\n  -H "Authorization: Bearer ${token}"`;
  return (
    <SecretShownOnce title={words.secretTitle} secret={token} onClose={onClose}>
      {token && <CodeExample title={words.example} code={example} copyLabel={words.copyExample} />}
    </SecretShownOnce>
  );
}
