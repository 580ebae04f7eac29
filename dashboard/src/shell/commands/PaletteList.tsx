import { CloseButton, Text } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { isAdministrator, useUser } from '../../api/session';
import { texts } from '../../texts';
import { type Group, type Item, moved, pagesAndActions } from './items';
import classes from './PaletteList.module.css';
import type { Found } from './useFound';
import { useFoundNames } from './useFoundNames';

const words = texts.commands;

interface Props {
  query: string;
  onQuery: (query: string) => void;
  keys: Found;
  others: Found;
  users: Found;
  requests: Found;
  onChoose: (item: Item) => void;
  onClose: () => void;
}

/** A search field with a list below it. The field keeps the focus, and the arrow keys choose. */
export function PaletteList({ query, onQuery, keys, others, users, requests, onChoose, onClose }: Props) {
  const user = useUser();
  const listId = useId();
  const [activeId, setActiveId] = useState<string>();
  const groups = [
    ...pagesAndActions(user, query),
    { label: words.keys, items: keys.items },
    { label: words.keysOfOthers, items: others.items },
    { label: words.users, items: users.items },
    { label: words.requests, items: requests.items },
    ...useFoundNames(query),
  ].filter(({ items }) => items.length > 0);
  const items = groups.flatMap((group) => group.items);
  // What was active may no longer be in the list.
  const index = Math.max(
    0,
    items.findIndex(({ id }) => id === activeId),
  );
  const active = items[index];
  const isLoading = keys.loading || others.loading || users.loading || requests.loading;

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const next = moved(index, items.length, event.key);
    if (next !== undefined) setActiveId(items[next]?.id);
    else if (event.key === 'Enter' && active) onChoose(active);
    else return;
    event.preventDefault();
  }

  return (
    <>
      <div className={classes.field}>
        <IconSearch size={20} stroke={1.6} />
        <input
          className={classes.input}
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={active && optionId(listId, active)}
          aria-autocomplete="list"
          aria-label={words.title}
          placeholder={isAdministrator(user) ? words.placeholderAdministrator : words.placeholder}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          data-autofocus
          value={query}
          onChange={(event) => {
            onQuery(event.currentTarget.value);
            setActiveId(undefined);
          }}
          onKeyDown={onKeyDown}
        />
        <CloseButton aria-label={texts.common.close} onClick={onClose} />
      </div>
      <div className={classes.results} role="listbox" id={listId} aria-label={words.results}>
        {groups.map((group) => (
          <Options key={group.label} group={group} listId={listId} active={active} onChoose={onChoose} />
        ))}
      </div>
      <Text size="sm" c="dimmed" role="status" className={classes.note}>
        {isLoading ? words.searching : items.length === 0 && words.nothing}
      </Text>
    </>
  );
}

interface OptionsProps {
  group: Group;
  listId: string;
  active: Item | undefined;
  onChoose: (item: Item) => void;
}

function Options({ group: { label, items }, listId, active, onChoose }: OptionsProps) {
  const labelId = `${listId}-${items[0]?.id}-label`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is not allowed in a listbox
    <div role="group" aria-labelledby={labelId}>
      <div id={labelId} className={classes.group} role="presentation">
        {label}
      </div>
      {items.map((item) => (
        <Option
          key={item.id}
          id={optionId(listId, item)}
          item={item}
          isActive={item === active}
          onChoose={onChoose}
        />
      ))}
    </div>
  );
}

interface OptionProps {
  id: string;
  item: Item;
  isActive: boolean;
  onChoose: (item: Item) => void;
}

function Option({ id, item, isActive, onChoose }: OptionProps) {
  const ref = useRef<HTMLDivElement>(null);
  const { label, hint, icon: Icon } = item;
  useEffect(() => {
    if (isActive) ref.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field keeps the focus
    <div
      ref={ref}
      id={id}
      role="option"
      aria-selected={isActive}
      className={classes.option}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onChoose(item)}
    >
      <Icon size={18} stroke={1.6} />
      <span className={classes.label}>{label}</span>
      {hint && <span className={classes.hint}>{hint}</span>}
    </div>
  );
}

function optionId(listId: string, { id }: Item): string {
  return `${listId}-${id}`;
}
