import { Select } from '@mantine/core';
import { useGateways } from '../../../api/adminGateways';
import { texts } from '../../../texts';

interface Props {
  /** The ID of a gateway, or empty. */
  value: string;
  onChange: (id: string) => void;
}

/** Selects a gateway. The one that an address names may have been removed. */
export function GatewaySelect({ value, onChange }: Props) {
  const { data: gateways } = useGateways();
  const options = (gateways ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  if (value && !options.some((option) => option.value === value)) {
    const label = gateways ? texts.usage.requestHistory.removedGateway(Number(value)) : LOADING;
    options.unshift({ value, label });
  }
  return (
    <Select
      aria-label={texts.adminUsage.gateway}
      placeholder={texts.adminUsage.allGateways}
      searchable
      // It is in a popover, which a click elsewhere closes.
      comboboxProps={{ withinPortal: false }}
      clearable
      clearButtonProps={{ 'aria-label': texts.adminLists.clearSelection }}
      data={options}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
    />
  );
}

const LOADING = '…';
