import { Anchor, Checkbox, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Token } from '../../api/tokens';
import type { Column } from '../../shared/DataTable';
import { TokenSwitch } from '../../shared/TokenSwitch';
import { quotaColumn, statusColumn } from '../../shared/tokenColumns';
import { WhenText } from '../../shared/WhenText';
import { texts } from '../../texts';
import { KeyMenu } from './actions/KeyMenu';
import type { KeyActions } from './actions/useKeyActions';
import { groupName } from './groupName';
import classes from './keyColumns.module.css';
import type { Choice } from './useChoice';

const words = texts.keys;

export function keyColumns(actions: KeyActions, choice: Choice): Column<Token>[] {
  return [
    {
      key: 'choose',
      place: 'select',
      width: 44,
      header: <ChooseAll choice={choice} />,
      cell: (token) => (
        <Checkbox
          aria-label={words.choose.one(token.name)}
          checked={choice.has(token)}
          onChange={() => choice.toggle(token)}
        />
      ),
    },
    {
      key: 'name',
      place: 'title',
      header: words.columns.name,
      cell: (token) => (
        <>
          <Anchor component={Link} href={`/keys/${token.id}`} size="sm" fw={600} className={classes.name}>
            {token.name}
          </Anchor>
          <Text className={classes.masked}>{token.masked_key}</Text>
        </>
      ),
    },
    statusColumn(words.columns.status),
    quotaColumn(words.columns.quota),
    {
      key: 'expires',
      header: words.columns.expires,
      cell: (token) => <WhenText size="sm" className={classes.when} seconds={token.expired_time} />,
    },
    {
      key: 'group',
      header: words.columns.group,
      cell: (token) => <Text size="sm">{groupName(token.group)}</Text>,
    },
    {
      key: 'lastUsed',
      header: words.columns.lastUsed,
      // Until the first use the API says when the token was made.
      cell: (token) => (
        <WhenText
          size="sm"
          className={classes.when}
          seconds={token.used_quota > 0 ? token.accessed_time : 0}
          never={words.notYet}
        />
      ),
    },
    {
      key: 'actions',
      place: 'actions',
      align: 'right',
      width: 104,
      cell: (token) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <TokenSwitch
            aria-label={words.switch(token.name)}
            token={token}
            onSwitch={(on) => actions.setSwitch([token], on)}
          />
          <KeyMenu token={token} actions={actions} />
        </Group>
      ),
    },
  ];
}

export function ChooseAll({ choice, label }: { choice: Choice; label?: string }) {
  return (
    <Checkbox
      label={label}
      aria-label={label === undefined ? words.choose.page : undefined}
      checked={choice.all}
      indeterminate={choice.tokens.length > 0 && !choice.all}
      onChange={choice.toggleAll}
    />
  );
}
