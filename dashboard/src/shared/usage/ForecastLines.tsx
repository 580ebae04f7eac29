import { Text } from '@mantine/core';
import { type ForecastOptions, useForecast } from '../../api/forecast';
import { useStatus } from '../../api/status';
import { forecastSentences } from '../../format/forecast';
import { todayIn } from './range';

/** When the quota and the limits end at the pace of the last days. Shows nothing if nothing ends. */
export function ForecastLines(options: ForecastOptions) {
  const { data: forecast } = useForecast(options);
  const { data: status } = useStatus();
  if (!forecast || !status) return null;
  // The days are those of the server.
  return forecastSentences(forecast, todayIn(status.time_zone, new Date())).map((sentence) => (
    <Text key={sentence} size="sm" c="dimmed">
      {sentence}
    </Text>
  ));
}
