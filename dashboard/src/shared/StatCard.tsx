import { Paper, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './StatCard.module.css';

interface Props {
  title: string;
  /** Absent while loading. */
  value: ReactNode | undefined;
  className?: string;
  /** The heading, if the card is part of a section. */
  heading?: 'h2' | 'h3';
  /** Two lines of small text. */
  children: ReactNode;
}

export function StatCard({ title, value, className, heading = 'h2', children }: Props) {
  const loading = value === undefined;
  return (
    <Paper component="section" p="lg" className={className} aria-busy={loading}>
      <Text component={heading} size="sm" fw={500} c="dimmed">
        {title}
      </Text>
      <div className={classes.value}>{loading ? <Skeleton h={28} w={120} maw="80%" /> : value}</div>
      <div className={classes.lines}>{loading ? <Skeleton h={32} w="60%" /> : children}</div>
    </Paper>
  );
}
