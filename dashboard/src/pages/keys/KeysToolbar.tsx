import { Group, Select, Text } from '@mantine/core';
import { readSorting, sortingNames } from '../../api/tokenListing';
import { SearchInput } from '../../shared/SearchInput';
import { texts } from '../../texts';
import classes from './KeysToolbar.module.css';
import { SearchHint } from './SearchHint';
import type { KeyList } from './useKeyList';
import type { ChangeView, KeysView } from './useKeysView';

interface Props {
  view: KeysView;
  onChange: ChangeView;
  keys: KeyList;
}

const { search, status, sort } = texts.keys;
const words = texts.common.tokenStatus;

const states = [
  { value: '', label: status.all },
  { value: '1', label: words[1] },
  { value: '2', label: words[2] },
  { value: '3', label: words[3] },
  { value: '4', label: words[4] },
];

const orders = sortingNames.map((value) => ({ value, label: sort.by[value] }));

export function KeysToolbar({ view, onChange, keys }: Props) {
  return (
    <Group align="flex-start" gap="sm" className={classes.toolbar}>
      <SearchInput label={search.label} value={view.q} onChange={(q) => onChange({ q })} />
      <Select
        aria-label={status.label}
        className={classes.choice}
        data={states}
        allowDeselect={false}
        value={view.status === undefined ? '' : String(view.status)}
        onChange={(value) => onChange({ status: value ? Number(value) : undefined })}
      />
      <Select
        aria-label={sort.label}
        className={classes.choice}
        data={orders}
        allowDeselect={false}
        value={view.sorting}
        onChange={(value) => onChange({ sorting: readSorting(value) })}
      />
      <Text size="sm" c="dimmed" role="status" className={classes.hint}>
        <SearchHint plan={keys.plan} failure={keys.searchFailure} />
      </Text>
    </Group>
  );
}
