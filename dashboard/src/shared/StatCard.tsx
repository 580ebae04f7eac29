import { Paper, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './StatCard.module.css';

interface Props {
  title: string;
  /** Absent while loading. */
  value: ReactNode | undefined;
  className?: string;
  /** Two lines of small text. */
  children: ReactNode;
}

export function StatCard({ title, value, className, children }: Props) {
  const loading = value === undefined;
  return (
    <Paper component="section" p="lg" className={className} aria-busy={loading}>
      <Text component="h2" size="sm" fw={500} c="dimmed">
        {title}
      </Text>
      <div className={classes.value}>{loading ? <Skeleton h={28} w={120} maw="80%" /> : value}</div>
      <div className={classes.lines}>{loading ? <Skeleton h={32} w="60%" /> : children}</div>
    </Paper>
  );
}
