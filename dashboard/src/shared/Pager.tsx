import { Group, Pagination, Text } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { texts } from '../texts';

interface Props {
  /** Starts at 0, as in the API. */
  page: number;
  pageSize: number;
  total: number;
  onChange: (page: number) => void;
}

/** Page navigation. Empty if there is a single page. */
export function Pager({ page, pageSize, total, onChange }: Props) {
  if (total <= pageSize) return null;
  const { range, label, previous, next } = texts.common.pager;
  const first = page * pageSize + 1;
  const last = Math.min(total, first + pageSize - 1);
  return (
    <Group justify="space-between" mt="md">
      <Text size="sm" c="dimmed" className="tabular" aria-live="polite">
        {range(formatInteger(first), formatInteger(last), formatInteger(total))}
      </Text>
      <Pagination
        component="nav"
        aria-label={label}
        size="md"
        total={Math.ceil(total / pageSize)}
        value={page + 1}
        onChange={(selected) => onChange(selected - 1)}
        getControlProps={(control) =>
          control === 'previous'
            ? { 'aria-label': previous }
            : control === 'next'
              ? { 'aria-label': next }
              : {}
        }
      />
    </Group>
  );
}
