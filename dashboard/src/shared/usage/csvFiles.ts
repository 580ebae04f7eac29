import type { DayRange } from '../../api/dailyUsage';
import {
  comparisonCsvHref,
  monthCsvHref,
  timeCsvHref,
  type UsageOptions,
  type UsageSplit,
} from '../../api/usageReports';
import { texts } from '../../texts';

const words = texts.usage.csv;

interface Options extends UsageOptions {
  range: DayRange;
  split: UsageSplit;
  time: 'hour' | 'day';
  /** Absent without a comparison. */
  compare: DayRange | undefined;
  byChange: boolean;
}

/** What a report can be downloaded as. */
export function csvFiles({ time, compare, byChange, split, ...options }: Options) {
  const files = [{ href: timeCsvHref({ ...options, split, time }), label: words[time](words.names[split]) }];
  if (compare) {
    const href = comparisonCsvHref({ ...options, split, compare, byChange });
    files.push({ href, label: words.comparison(words.names[split]) });
  }
  // A key has one group.
  if (options.tokenId === undefined) {
    const label = options.scope === 'allUsers' ? words.byUser : words.byGroup;
    files.push({ href: monthCsvHref(options), label });
  }
  return files;
}
