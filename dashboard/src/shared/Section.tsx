import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  /** Beside the title. */
  side?: ReactNode;
  children: ReactNode;
}

/** A card of a page. Its title is above it, as those of tables are, which can be several cards. */
export function Section({ title, side, children }: Props) {
  return (
    <section>
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={2}>{title}</Title>
        {side}
      </Group>
      <Paper p="lg">{children}</Paper>
    </section>
  );
}
