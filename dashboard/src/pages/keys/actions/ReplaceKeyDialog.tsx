import { Anchor, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { type Rotated, useRotateToken } from '../../../api/oldKeys';
import type { Token } from '../../../api/tokens';
import { FOCUS_RETURN_MS } from '../../../shared/focus';
import { texts } from '../../../texts';
import { oldKeyRefusalsHref } from '../oldKeyRefusalsHref';
import { GraceDialog } from './GraceDialog';
import { NewKeyDialog } from './NewKeyDialog';

interface Props {
  /** The dialog is open while this is defined. */
  token: Token | undefined;
  onClose: () => void;
}

interface Replaced {
  token: Token;
  leaked: boolean;
  /** Keys that earlier rotations replaced still work. */
  hasOthers: boolean;
}

const words = texts.keys.replace;

/**
 * Asks how long the old key works, replaces it, and shows the new one. The second dialog opens after the first one has
 * returned the focus, so that it returns the focus to the same element.
 */
export function ReplaceKeyDialog({ token, onClose }: Props) {
  const rotate = useRotateToken();
  const [replaced, setReplaced] = useState<Replaced>();
  const [isShown, setShown] = useState(false);

  function forget() {
    setReplaced(undefined);
    setShown(false);
  }

  return (
    <>
      <GraceDialog
        of={token}
        title={({ name }) => words.title(name)}
        explanation={words.explanation}
        mutation={rotate}
        onReplaced={(of, { key, masked_key, old_keys }: Rotated, leaked) =>
          setReplaced({ token: { ...of, key, masked_key }, leaked, hasOthers: old_keys.length > 0 })
        }
        onClosed={() => replaced && setTimeout(() => setShown(true), FOCUS_RETURN_MS)}
        onClose={onClose}
      />
      <NewKeyDialog
        created={isShown ? replaced?.token : undefined}
        hint={replaced?.leaked ? words.hintLeaked : words.hint}
        onClose={forget}
      >
        {replaced?.leaked && <AfterLeak {...replaced} onLeave={forget} />}
      </NewKeyDialog>
    </>
  );
}

function AfterLeak({ token, hasOthers, onLeave }: Replaced & { onLeave: () => void }) {
  return (
    <div>
      {hasOthers && <Text size="sm">{words.othersWork}</Text>}
      <Anchor component={Link} href={oldKeyRefusalsHref(token.id)} size="sm" onClick={onLeave}>
        {words.showRefused}
      </Anchor>
    </div>
  );
}
