import { Button } from '@mantine/core';
import { useState } from 'react';
import type { OwnedToken } from '../../../api/adminTokens';
import type { ChosenTokens, TokenFilter } from '../../../api/chosenTokens';
import { SelectionBar } from '../../../shared/selection/SelectionBar';
import type { Selection } from '../../../shared/selection/useSelection';
import { texts } from '../../../texts';
import { ChangeKeysDialog, type ManyRequest } from '../../keys/many/ChangeKeysDialog';
import type { ManyAction } from '../../keys/many/changeForm';
import { ExportButton } from '../../keys/many/ExportButton';

const words = texts.keys.selection;

const actions: { action: ManyAction; label: string }[] = [
  { action: 'enable', label: words.enable },
  { action: 'disable', label: words.disable },
  { action: 'add_quota', label: words.addQuota },
  { action: 'change', label: words.change },
];

interface Props {
  selection: Selection<OwnedToken>;
  /** Of the list. */
  filter: TokenFilter;
  userId: number | undefined;
}

/** What administrators do to the selected keys of any users, or to all that the filters of the list match. */
export function AnyKeysBar({ selection, filter, userId }: Props) {
  const [request, setRequest] = useState<ManyRequest>();
  const { rows: tokens, count, allMatching, clear } = selection;
  const chosen: ChosenTokens = allMatching ? { filter, userId, total: count } : { tokens };
  return (
    <>
      <SelectionBar label={words.label} selection={selection}>
        {actions.map(({ action, label }) => (
          <Button key={action} size="xs" variant="default" onClick={() => setRequest({ action, chosen })}>
            {label}
          </Button>
        ))}
        <ExportButton scope="any" chosen={chosen} />
      </SelectionBar>
      <ChangeKeysDialog scope="any" request={request} onDone={clear} onClose={() => setRequest(undefined)} />
    </>
  );
}
