import { Group, Select, Text } from '@mantine/core';
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

const { search, status } = texts.keys;
const words = texts.common.tokenStatus;

const states = [
  { value: '', label: status.all },
  { value: '1', label: words[1] },
  { value: '2', label: words[2] },
  { value: '3', label: words[3] },
  { value: '4', label: words[4] },
];

export function KeysToolbar({ view, onChange, keys }: Props) {
  return (
    <Group align="flex-start" gap="sm" className={classes.toolbar}>
      <SearchInput label={search.label} value={view.q} onChange={(q) => onChange({ q })} />
      {/* The API cannot filter by status, so all keys must be loaded. */}
      {keys.complete && (
        <Select
          aria-label={status.label}
          className={classes.status}
          data={states}
          allowDeselect={false}
          value={view.status === undefined ? '' : String(view.status)}
          onChange={(value) => onChange({ status: value ? Number(value) : undefined })}
        />
      )}
      <Text size="sm" c="dimmed" role="status" className={classes.hint}>
        <SearchHint plan={keys.plan} failure={keys.searchFailure} />
      </Text>
    </Group>
  );
}
