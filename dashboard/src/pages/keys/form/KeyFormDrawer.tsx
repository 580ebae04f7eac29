import { Drawer, Skeleton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Token } from '../../../api/tokens';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';

// Most visits open no form, and it needs many components.
const KeyForm = lazy(() => import('./KeyForm').then(({ KeyForm }) => ({ default: KeyForm })));

interface Props {
  opened: boolean;
  /** The token to edit. Absent for a new token. */
  token?: Token;
  onCreated?: (token: Token) => void;
  onClose: () => void;
}

export function KeyFormDrawer({ opened, token, onCreated, onClose }: Props) {
  const [touched, setTouched] = useState(false);
  const shown = useLastDefined(token);
  const { createTitle, editTitle } = texts.keys.form;

  function close() {
    setTouched(false);
    onClose();
  }

  return (
    <Drawer
      opened={opened}
      onClose={close}
      position="right"
      size={520}
      padding="lg"
      title={shown ? editTitle(shown.name) : createTitle}
      overlayProps={{ backgroundOpacity: 0.5 }}
      closeButtonProps={{ 'aria-label': texts.common.close }}
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontSize: '1.125rem', fontWeight: 650, overflowWrap: 'anywhere' } }}
      // A stray click or key must not lose the input.
      closeOnClickOutside={!touched}
      closeOnEscape={!touched}
    >
      <Suspense fallback={<Skeleton h={400} />}>
        <KeyForm
          token={shown}
          onTouched={() => setTouched(true)}
          onCreated={(created) => {
            close();
            onCreated?.(created);
          }}
          onClose={close}
        />
      </Suspense>
    </Drawer>
  );
}
