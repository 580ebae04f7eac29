import { Button } from '@mantine/core';
import { type Gateway, useCreateCredential } from '../../../api/adminGateways';
import { notifyFailure } from '../../../shared/notify';
import { SecretDialog } from '../../../shared/SecretDialog';
import { texts } from '../../../texts';
import { VerifyExample } from './VerifyExample';

const words = texts.adminGateways.credential;

/** Creates a credential of a gateway and shows it. */
export function NewCredentialButton({ gateway }: { gateway: Gateway }) {
  const create = useCreateCredential();

  function make() {
    // The button is not disabled while pending, because the dialog returns the focus to it.
    if (!create.isPending) create.mutate(gateway.id, { onError: notifyFailure });
  }

  return (
    <>
      <Button variant="default" size="xs" aria-label={words.createLabel(gateway.name)} onClick={make}>
        {words.create}
      </Button>
      <SecretDialog
        title={words.secretTitle(gateway.name)}
        secret={create.data?.credential ?? undefined}
        onClose={create.reset}
      >
        <VerifyExample />
      </SecretDialog>
    </>
  );
}
