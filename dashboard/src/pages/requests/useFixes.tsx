import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { isKnown, type PastRequest } from '../../api/requestHistory';
import { useUser } from '../../api/session';
import { lockedBy } from '../../api/tokenSwitch';
import { type Token, useReadToken } from '../../api/tokens';
import { notifyFailure } from '../../shared/notify';
import { texts } from '../../texts';
import { useKeyActions } from '../keys/actions/useKeyActions';
import type { Fix } from '../keys/form/fix';
import { KeyFormDrawer } from '../keys/form/KeyFormDrawer';
import { fixOf } from './fixes';

/** A button beside each refusal that the owner of its key can end, and the form that it opens. */
export function useFixes(): { fix: (row: PastRequest) => ReactNode; form: ReactNode } {
  const user = useUser();
  const readToken = useReadToken();
  const { actions } = useKeyActions();
  const [editing, setEditing] = useState<{ token: Token; fix: Fix }>();
  const [opened, setOpened] = useState(false);

  async function start(id: number, fix: Fix | 'enable') {
    try {
      const token = await readToken(id);
      if (fix !== 'enable') {
        setEditing({ token, fix });
        setOpened(true);
        return;
      }
      const who = lockedBy(user, token);
      if (who) notifyFailure(new Error(texts.key.locked[who]));
      else actions.setSwitch([token], true);
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  function fix(row: PastRequest) {
    const found = isKnown(row) ? fixOf(row) : undefined;
    if (!found || !isKnown(row)) return null;
    return (
      <Button
        variant="default"
        size="xs"
        maw={220}
        title={found.label}
        onClick={() => start(row.token_id, found.fix)}
      >
        {found.label}
      </Button>
    );
  }

  const form = (
    <KeyFormDrawer
      opened={opened}
      token={editing?.token}
      fix={editing?.fix}
      onClose={() => setOpened(false)}
    />
  );
  return { fix, form };
}
