import { Skeleton } from '@mantine/core';
import { usePriceFile } from '../../../api/adminPrices';
import { FailureState } from '../../../shared/FailureState';
import { FormModal } from '../../../shared/form/FormModal';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { PriceForm } from './PriceForm';

const words = texts.prices.editor;

interface Props {
  opened: boolean;
  /** A model whose price is to be added, or empty. */
  model: string;
  onClose: () => void;
}

/** Edits the file of one's own prices, from the one in force. */
export function PriceEditor({ opened, onClose, ...props }: Props) {
  const model = useLastDefined(opened ? props.model : undefined) ?? '';
  return (
    <FormModal
      opened={opened}
      onClose={onClose}
      title={model ? words.addTitle(model) : words.title}
      size="xl"
    >
      <LoadedForm model={model} onClose={onClose} />
    </FormModal>
  );
}

function LoadedForm({ model, onClose }: Omit<Props, 'opened'>) {
  const { data, error, refetch } = usePriceFile();
  // A form that is open stays, whatever happens to the file meanwhile.
  if (data) return <PriceForm file={data} model={model} readFile={refetch} onClose={onClose} />;
  if (error) return <FailureState error={error} onRetry={refetch} />;
  return <Skeleton h={360} />;
}
