import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { User } from '../../../api/session';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { KeyFormDrawer } from '../../keys/form/KeyFormDrawer';

/** Creates a key for somebody else, who alone can read it. */
export function CreateKeyButton({ owner }: { owner: User }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPlus size={18} stroke={1.6} />}
        onClick={() => setOpened(true)}
      >
        {texts.keys.create}
      </Button>
      <KeyFormDrawer
        opened={opened}
        owner={owner}
        onCreated={({ name }) => notifySuccess(texts.adminKey.created(name, owner.username))}
        onClose={() => setOpened(false)}
      />
    </>
  );
}
