import { Group, Pagination, Select, Text } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { texts } from '../texts';

interface Props {
  /** Starts at 0, as in the API. */
  page: number;
  pageSize: number;
  total: number;
  onChange: (page: number) => void;
  /** Lets the user choose the size of a page. */
  sizes?: { choices: number[]; onChoose: (size: number) => void };
}

const words = texts.common.pager;

/** Page navigation. Empty if there is a single page, whatever its size. */
export function Pager({ page, pageSize, total, onChange, sizes }: Props) {
  if (total <= Math.min(pageSize, ...(sizes?.choices ?? []))) return null;
  const first = page * pageSize + 1;
  const last = Math.min(total, first + pageSize - 1);
  return (
    <Group justify="space-between" mt="md">
      <Group gap="md">
        <Text size="sm" c="dimmed" className="tabular" aria-live="polite">
          {words.range(formatInteger(first), formatInteger(last), formatInteger(total))}
        </Text>
        {sizes && (
          <Select
            aria-label={words.size}
            size="xs"
            w={130}
            data={sizes.choices.map((size) => ({ value: String(size), label: words.perPage(size) }))}
            allowDeselect={false}
            value={String(pageSize)}
            onChange={(size) => sizes.onChoose(Number(size))}
          />
        )}
      </Group>
      {total > pageSize && (
        <Pagination
          component="nav"
          aria-label={words.label}
          size="md"
          total={Math.ceil(total / pageSize)}
          value={page + 1}
          onChange={(selected) => onChange(selected - 1)}
          getControlProps={(control) =>
            control === 'previous'
              ? { 'aria-label': words.previous }
              : control === 'next'
                ? { 'aria-label': words.next }
                : {}
          }
        />
      )}
    </Group>
  );
}
