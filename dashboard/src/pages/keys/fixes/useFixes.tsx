import { type ReactNode, useState } from 'react';
import { useUser } from '../../../api/session';
import { lockedBy } from '../../../api/tokenSwitch';
import { type Token, useReadToken } from '../../../api/tokens';
import { stoppingPeriod } from '../../../shared/limits/periodBar';
import { notifyFailure } from '../../../shared/notify';
import { texts } from '../../../texts';
import { useSwitchKeys } from '../actions/useSwitchKeys';
import type { Fix } from '../form/fix';
import { FixButton } from './FixButton';
import { ANY_PERIOD, fixOf, type Trouble } from './fixOf';
import { PriceFix } from './PriceFix';

interface Key {
  id: number;
  name: string;
}

/** A button beside each trouble of a key that its owner can end, and the form that it opens. */
export function useFixes(): { fix: (key: Key, trouble: Trouble) => ReactNode; form: ReactNode } {
  const user = useUser();
  const readToken = useReadToken();
  const { enableAgain } = useSwitchKeys();
  const [drawer, setDrawer] = useState<typeof import('../form/KeyFormDrawer')>();
  const [editing, setEditing] = useState<{ token: Token; fix: Fix }>();
  const [opened, setOpened] = useState(false);

  async function start(id: number, fix: Fix | 'enable') {
    try {
      // With the form, because pages that most people only look at have the buttons.
      const [token, loaded] = await Promise.all([
        readToken(id),
        fix === 'enable' ? undefined : import('../form/KeyFormDrawer'),
      ]);
      if (fix !== 'enable') {
        setDrawer(loaded);
        setEditing({ token, fix: withPeriod(fix, token) });
        setOpened(true);
        return;
      }
      const who = lockedBy(user, token);
      if (who) notifyFailure(new Error(texts.key.locked[who]));
      else enableAgain([token]);
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  function fix({ id, name }: Key, trouble: Trouble) {
    const found = fixOf(trouble);
    if (!found) return undefined;
    const { label, fix } = found;
    if (fix === 'price') return <PriceFix model={trouble.model} />;
    return <FixButton label={label} name={name} onClick={() => start(id, fix)} />;
  }

  const form = drawer && (
    <drawer.KeyFormDrawer
      opened={opened}
      token={editing?.token}
      fix={editing?.fix}
      onClose={() => setOpened(false)}
    />
  );
  return { fix, form };
}

/** Of several limits, the one that stops the key. */
function withPeriod(fix: Fix, { period_usage }: Token): Fix {
  if (fix.path !== ANY_PERIOD) return fix;
  return { ...fix, path: `period_limits.${stoppingPeriod(period_usage) ?? 'day'}` };
}
