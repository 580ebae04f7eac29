import { Modal, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useUser } from '../../api/session';
import { FOCUS_RETURN_MS } from '../../shared/focus';
import { texts } from '../../texts';
import type { Item } from './items';
import { PaletteList } from './PaletteList';
import type { CommandDialogProps } from './useCommands';
import {
  type Found,
  NOTHING,
  useFoundKeys,
  useFoundKeysOfOthers,
  useFoundRequests,
  useFoundUsers,
} from './useFound';

/** Finds pages, actions, own keys, requests, models and, for administrators, what belongs to others and to the server. */
export default function Palette({ opened, onClose, onOpen }: CommandDialogProps) {
  const [, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();

  function choose({ target }: Item) {
    onClose();
    if ('colorScheme' in target) return setColorScheme(target.colorScheme);
    // After the dialog has returned the focus, which the page or the next dialog then takes.
    setTimeout(() => ('path' in target ? navigate(target.path) : onOpen(target.command)), FOCUS_RETURN_MS);
  }

  return (
    <Modal
      opened={opened}
      onClose={onClose}
      returnFocus={false}
      withCloseButton={false}
      centered={false}
      yOffset="8vh"
      size="lg"
      padding={0}
      attributes={{ content: { 'aria-label': texts.commands.title } }}
    >
      <Search onChoose={choose} onClose={onClose} />
    </Modal>
  );
}

interface SearchProps {
  onChoose: (item: Item) => void;
  onClose: () => void;
}

function Search(props: SearchProps) {
  const [query, setQuery] = useState('');
  const others = useFoundKeysOfOthers(query);
  const users = useFoundUsers(query);
  const requests = useFoundRequests(query);
  const all = { ...props, query, onQuery: setQuery, others, users, requests };
  // Without access to the API there are no keys to search.
  return useUser().token_api_enabled ? <WithKeys {...all} /> : <PaletteList {...all} keys={NOTHING} />;
}

interface WithKeysProps extends SearchProps {
  query: string;
  onQuery: (query: string) => void;
  others: Found;
  users: Found;
  requests: Found;
}

function WithKeys(props: WithKeysProps) {
  return <PaletteList {...props} keys={useFoundKeys(props.query)} />;
}
