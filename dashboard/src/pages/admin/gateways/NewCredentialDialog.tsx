import type { Gateway } from '../../../api/adminGateways';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { VerifyExample } from './VerifyExample';

const words = texts.adminGateways.credential;

interface Props {
  gateway: Gateway | undefined;
  /** The secret. The dialog is open while this is defined. */
  credential: string | undefined;
  onClose: () => void;
}

/** Shows a new credential. Part of the page, because the rows of the list are replaced when the window is resized. */
export function NewCredentialDialog({ gateway, credential, onClose }: Props) {
  const shown = useLastDefined(gateway);
  return (
    <SecretDialog title={words.secretTitle(shown?.name ?? '')} secret={credential} onClose={onClose}>
      <VerifyExample />
    </SecretDialog>
  );
}
