import { Text } from '@mantine/core';
import type { Token } from '../../../api/tokens';
import { FormModal } from '../../../shared/form/FormModal';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { AddQuotaForm } from './AddQuotaForm';
import { hasQuota } from './hasQuota';
import { KeyNames } from './KeyNames';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onAdded?: () => void;
  onClose: () => void;
}

const words = texts.keys.addQuota;

/** Adds the same amount to each key that has a quota. */
export function AddQuotaDialog({ tokens, onAdded, onClose }: Props) {
  const shown = useLastDefined(tokens) ?? [];
  const limited = shown.filter(hasQuota);
  return (
    <FormModal opened={tokens !== undefined} onClose={onClose} title={words.title(limited.length)}>
      <KeyNames tokens={limited} />
      {limited.length < shown.length && (
        <Text size="sm" c="dimmed" mb="md">
          {words.unlimited(shown.length - limited.length)}
        </Text>
      )}
      <AddQuotaForm
        tokens={limited}
        onAdded={() => {
          onClose();
          onAdded?.();
        }}
        onClose={onClose}
      />
    </FormModal>
  );
}
