import { Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="md">
        {title}
      </Title>
      {children}
    </Paper>
  );
}
