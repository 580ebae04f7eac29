import { Text } from '@mantine/core';
import { type ForecastOptions, useForecast } from '../../api/forecast';
import type { PeriodUsage } from '../../api/limits';
import { useStatus } from '../../api/status';
import { forecastSentences } from '../../format/forecast';
import { todayIn } from './range';

interface Props extends ForecastOptions {
  /** Of the key or the account. */
  usage: PeriodUsage;
  /** Nothing can be spent until somebody changes something, so nothing lasts until a day. */
  isStopped: boolean;
}

/** When the quota and the limits end at the pace of the last days. Shows nothing if nothing ends. */
export function ForecastLines({ usage, isStopped, ...options }: Props) {
  const { data: forecast } = useForecast(options);
  const { data: status } = useStatus();
  if (!forecast || !status || isStopped) return null;
  // The days are those of the server.
  return forecastSentences(forecast, usage, todayIn(status.time_zone, new Date())).map((sentence) => (
    <Text key={sentence} size="sm" c="dimmed">
      {sentence}
    </Text>
  ));
}
