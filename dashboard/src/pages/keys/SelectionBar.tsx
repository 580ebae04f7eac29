import { Button, Tooltip } from '@mantine/core';
import { useState } from 'react';
import type { ChosenTokens, TokenFilter } from '../../api/chosenTokens';
import type { Token } from '../../api/tokens';
import { SelectionBar as Bar } from '../../shared/selection/SelectionBar';
import type { Selection } from '../../shared/selection/useSelection';
import { useLoaded } from '../../shared/useLoaded';
import { texts } from '../../texts';
import { hasQuota } from './actions/hasQuota';
import type { KeyActions } from './actions/useKeyActions';
import { useSwitchKeys } from './actions/useSwitchKeys';
import type { ManyRequest } from './many/ChangeKeysDialog';
import { ExportButton } from './many/ExportButton';

const words = texts.keys.selection;
const MAX_REPLACED = 100;

const loadDialogs = () => import('./many/ManyKeysDialogs');

interface Props {
  selection: Selection<Token>;
  /** Of the list, if all that it matches can be selected. */
  filter: TokenFilter | undefined;
  actions: KeyActions;
}

/** Which dialog is open. Those with a name are for the selected rows. */
type Asked = ManyRequest | 'disable' | 'add_quota' | 'replace';

/** Actions on the selected keys, or on all that the filters of the list match. */
export function SelectionBar({ selection, filter, actions }: Props) {
  const { rows: tokens, count, allMatching, clear } = selection;
  const [asked, setAsked] = useState<Asked>();
  const dialogs = useLoaded(loadDialogs, count > 0);
  const { setSwitch, enableAll, enableAgain } = useSwitchKeys();
  const chosen: ChosenTokens = allMatching && filter ? { filter, total: count } : { tokens };

  async function enable() {
    if (allMatching) setAsked({ action: 'enable', chosen });
    else if (await enableAll(tokens)) clear();
  }

  function disable() {
    if (allMatching) return setAsked({ action: 'disable', chosen });
    const [first, ...others] = tokens;
    if (!first) return;
    if (others.length > 0) return setAsked('disable');
    setSwitch([first], false);
    clear();
  }

  function replace() {
    const [first, ...others] = tokens;
    if (first && others.length === 0) actions.replaceKey(first);
    else setAsked('replace');
  }

  const close = () => setAsked(undefined);
  const ofTokens = (dialog: Asked) => (asked === dialog ? tokens : undefined);
  return (
    <>
      <Bar label={words.label} selection={selection}>
        <Button size="xs" variant="default" onClick={enable}>
          {words.enable}
        </Button>
        <Button size="xs" variant="default" onClick={disable}>
          {words.disable}
        </Button>
        {(allMatching || tokens.some(hasQuota)) && (
          <Button
            size="xs"
            variant="default"
            onClick={() => setAsked(allMatching ? { action: 'add_quota', chosen } : 'add_quota')}
          >
            {words.addQuota}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => setAsked({ action: 'change', chosen })}>
          {words.change}
        </Button>
        <ExportButton scope="own" chosen={chosen} />
        {!allMatching && (
          <>
            <ReplaceButton count={count} onClick={replace} />
            <Button size="xs" variant="light" color="red" onClick={() => actions.remove(tokens)}>
              {words.delete}
            </Button>
          </>
        )}
      </Bar>
      {dialogs && (
        <>
          <dialogs.ChangeKeysDialog
            scope="own"
            request={typeof asked === 'object' ? asked : undefined}
            onDone={clear}
            onClose={close}
          />
          <dialogs.DisableKeysDialog
            tokens={ofTokens('disable')}
            onUndo={enableAgain}
            onDisabled={clear}
            onClose={close}
          />
          <dialogs.AddQuotaDialog tokens={ofTokens('add_quota')} onAdded={clear} onClose={close} />
          <dialogs.ReplaceKeysDialog tokens={ofTokens('replace')} onReplaced={clear} onClose={close} />
        </>
      )}
    </>
  );
}

/** Says why it does nothing, if there are too many. */
function ReplaceButton({ count, onClick }: { count: number; onClick: () => void }) {
  const isPossible = count <= MAX_REPLACED;
  const button = (
    <Button
      size="xs"
      variant="default"
      data-disabled={!isPossible || undefined}
      aria-disabled={!isPossible || undefined}
      onClick={() => isPossible && onClick()}
    >
      {words.replace}
    </Button>
  );
  if (isPossible) return button;
  return (
    <Tooltip label={words.replaceAtMost(MAX_REPLACED)} events={{ hover: true, focus: true, touch: true }}>
      {button}
    </Tooltip>
  );
}
