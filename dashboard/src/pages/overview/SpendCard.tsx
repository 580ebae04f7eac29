import { Group, Paper, Skeleton, Title } from '@mantine/core';
import { useState } from 'react';
import type { Overview } from '../../api/overview';
import { SpendChart } from '../../shared/chart/SpendChart';
import { type View, ViewControl } from '../../shared/chart/ViewControl';
import { texts } from '../../texts';
import classes from './OverviewPage.module.css';
import { SpendTable } from './SpendTable';

const words = texts.overview.spend;

export function SpendCard({ overview }: { overview: Overview | undefined }) {
  const [view, setView] = useState<View>('chart');
  return (
    <Paper component="section" p="lg" className={classes.two} aria-busy={!overview}>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{words.title}</Title>
        <ViewControl view={view} onChange={setView} />
      </Group>
      <div className={classes.spend}>
        {!overview ? (
          <Skeleton h="100%" />
        ) : view === 'chart' ? (
          <SpendChart daily={overview.daily} today={overview.end_date} />
        ) : (
          <SpendTable daily={overview.daily} />
        )}
      </div>
    </Paper>
  );
}
