import { Group, Text } from '@mantine/core';
import { StateSelect } from '../../shared/ListingFields';
import { SearchInput } from '../../shared/SearchInput';
import { texts } from '../../texts';
import { GroupSelect } from './GroupSelect';
import classes from './KeysToolbar.module.css';
import { SearchHint } from './SearchHint';
import type { KeyList } from './useKeyList';
import type { ChangeView, KeysView } from './useKeysView';

interface Props {
  view: KeysView;
  onChange: ChangeView;
  keys: KeyList;
}

export function KeysToolbar({ view, onChange, keys }: Props) {
  return (
    <Group align="flex-start" gap="sm" className={classes.toolbar}>
      <SearchInput label={texts.keys.search.label} value={view.q} onChange={(q) => onChange({ q })} />
      <StateSelect state={view.state} onChange={(state) => onChange({ state })} />
      <GroupSelect group={view.group} onChange={(group) => onChange({ group })} />
      <Text size="sm" c="dimmed" role="status" className={classes.hint}>
        <SearchHint plan={keys.plan} failure={keys.searchFailure} />
      </Text>
    </Group>
  );
}
