import { Button, Group, Paper } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { Link } from 'wouter';
import { EmptyState } from '../../shared/EmptyState';
import { texts } from '../../texts';

const { title, hint, toKeys, toOverview } = texts.enablement.granted;

export function EnabledCard() {
  return (
    <Paper>
      <EmptyState
        icon={IconCircleCheck}
        title={title}
        hint={hint}
        action={
          <Group mt="xs" justify="center">
            <Button component={Link} href="/keys">
              {toKeys}
            </Button>
            <Button component={Link} href="/" variant="default">
              {toOverview}
            </Button>
          </Group>
        }
      />
    </Paper>
  );
}
