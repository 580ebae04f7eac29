import { Group, Paper, Skeleton, Text } from '@mantine/core';
import { daysOf, useUsageReport } from '../../../api/usageReports';
import { totalsOf } from '../../../format/usage';
import { SpendChart } from '../../../shared/chart/SpendChart';
import { FailureState } from '../../../shared/FailureState';
import { listHref } from '../../../shared/listQuery';
import { Money } from '../../../shared/Money';
import { texts } from '../../../texts';
import { SectionHeader } from '../shared/SectionHeader';
import classes from './UserSpend.module.css';

const words = texts.adminUser.spend;

/** What the keys of the user spent in 30 days. */
export function UserSpend({ userId }: { userId: number }) {
  const { data, error, refetch } = useUsageReport({ scope: 'allUsers', groupBy: 'day', userId });
  const total = data && totalsOf(daysOf(data));
  return (
    <section>
      <SectionHeader
        title={words.title}
        href={listHref('/admin/usage', { range: '30d', user_id: userId })}
        label={words.all}
      />
      <Paper p="lg" aria-busy={!data && !error}>
        {data && total ? (
          <>
            <Group gap="xs" align="baseline" mb="md">
              <Money units={total.units} fw={650} fz="1.5rem" />
              <Text size="sm" c="dimmed">
                {texts.overview.requests(total.requests)}
              </Text>
            </Group>
            <div className={classes.chart}>
              <SpendChart daily={daysOf(data)} today={data.to} />
            </div>
          </>
        ) : error ? (
          <FailureState error={error} onRetry={refetch} />
        ) : (
          <Skeleton h={240} />
        )}
      </Paper>
    </section>
  );
}
