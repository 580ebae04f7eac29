import { Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { type DayRange, useDailyUsage } from '../../../api/dailyUsage';
import { useStatus } from '../../../api/status';
import { FailureState } from '../../../shared/FailureState';
import { RelativeTime } from '../../../shared/RelativeTime';
import { SpendChart } from '../../../shared/SpendChart';
import { texts } from '../../../texts';
import { usageCsv, usageFileName } from './csv';
import { download } from './download';
import { RangeFields } from './RangeFields';
import { namedRange, todayIn } from './range';
import classes from './UsageSection.module.css';
import { UsageTable } from './UsageTable';

const words = texts.key.usage;

/** Loads the time zone of the server first, because usage days depend on it. */
export function UsageSection({ tokenId }: { tokenId: number }) {
  const { data: status } = useStatus();
  return (
    <Paper component="section" p="lg">
      {status ? <Usage tokenId={tokenId} timeZone={status.time_zone} /> : <Skeleton h={420} />}
    </Paper>
  );
}

function Usage({ tokenId, timeZone }: { tokenId: number; timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const [range, setRange] = useState<DayRange>(() => namedRange('week', today));
  const { data: usage, error, refetch, isPlaceholderData } = useDailyUsage(tokenId, range);

  return (
    <>
      <Group justify="space-between" align="flex-start" mb="md">
        <Title order={2}>{words.title}</Title>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={16} />}
          disabled={!usage || isPlaceholderData}
          onClick={() => usage && download(usageFileName(usage), usageCsv(usage))}
        >
          {words.export}
        </Button>
      </Group>
      <RangeFields today={today} onRange={setRange} />
      {usage ? (
        <Stack gap="lg" mt="lg" className={classes.figures} data-old={isPlaceholderData || undefined}>
          <div className={classes.chart}>
            <SpendChart daily={usage.daily} today={today} />
          </div>
          <UsageTable daily={usage.daily} />
          <Text size="sm" c="dimmed">
            {words.asOf} <RelativeTime seconds={usage.asOf} /> · {words.zone(timeZone)}
          </Text>
        </Stack>
      ) : error ? (
        <FailureState error={error} onRetry={refetch} />
      ) : (
        <Skeleton h={420} mt="lg" />
      )}
    </>
  );
}
