import { Text } from '@mantine/core';
import type { Token } from '../../../api/tokens';
import { FormModal } from '../../../shared/form/FormModal';
import { useLastDefined } from '../../../shared/useLastDefined';
import { useLoaded } from '../../../shared/useLoaded';
import { texts } from '../../../texts';
import { hasQuota } from './hasQuota';
import { KeyNames } from './KeyNames';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onAdded?: () => void;
  onClose: () => void;
}

const words = texts.keys.addQuota;

/** Most visits open no form, and it needs many components. */
const loadForm = () => import('./AddQuotaForm');

/** Adds the same amount to each key that has a quota. */
export function AddQuotaDialog({ tokens, onAdded, onClose }: Props) {
  const { AddQuotaForm } = useLoaded(loadForm, tokens !== undefined) ?? {};
  const shown = useLastDefined(tokens) ?? [];
  const limited = shown.filter(hasQuota);
  return (
    // The focus goes to the form, so it must be there.
    <FormModal
      opened={tokens !== undefined && AddQuotaForm !== undefined}
      onClose={onClose}
      title={words.title(limited.length)}
    >
      <KeyNames tokens={limited} />
      {limited.length < shown.length && (
        <Text size="sm" c="dimmed" mb="md">
          {words.unlimited(shown.length - limited.length)}
        </Text>
      )}
      {AddQuotaForm && (
        <AddQuotaForm
          tokens={limited}
          onAdded={() => {
            onClose();
            onAdded?.();
          }}
          onClose={onClose}
        />
      )}
    </FormModal>
  );
}
