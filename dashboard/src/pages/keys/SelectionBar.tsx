import { Button } from '@mantine/core';
import type { Token } from '../../api/tokens';
import { SelectionBar as Bar } from '../../shared/selection/SelectionBar';
import type { Selection } from '../../shared/selection/useSelection';
import { texts } from '../../texts';
import { hasQuota } from './actions/hasQuota';
import type { KeyActions } from './actions/useKeyActions';

const words = texts.keys.selection;

/** Actions on the selected keys. */
export function SelectionBar({ selection, actions }: { selection: Selection<Token>; actions: KeyActions }) {
  const { rows: tokens, clear } = selection;

  async function enable() {
    if (await actions.enableAll(tokens)) clear();
  }

  function disable() {
    const [first, ...others] = tokens;
    if (!first) return;
    if (others.length > 0) return actions.disableAll(tokens);
    actions.setSwitch([first], false);
    clear();
  }

  return (
    <Bar label={words.label} selection={selection}>
      <Button size="xs" variant="default" onClick={enable}>
        {words.enable}
      </Button>
      <Button size="xs" variant="default" onClick={disable}>
        {words.disable}
      </Button>
      {tokens.some(hasQuota) && (
        <Button size="xs" variant="default" onClick={() => actions.addQuota(tokens)}>
          {words.addQuota}
        </Button>
      )}
      <Button size="xs" variant="light" color="red" onClick={() => actions.remove(tokens)}>
        {words.delete}
      </Button>
    </Bar>
  );
}
