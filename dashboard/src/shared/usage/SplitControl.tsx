import { SegmentedControl } from '@mantine/core';
import type { UsageSplit } from '../../api/usageReports';
import { texts } from '../../texts';

interface Props {
  splits: UsageSplit[];
  split: UsageSplit;
  onChange: (split: UsageSplit) => void;
}

/** What usage is split by. */
export function SplitControl({ splits, split, onChange }: Props) {
  return (
    <SegmentedControl<UsageSplit>
      aria-label={texts.usage.split}
      data={splits.map((value) => ({ value, label: texts.usage.splits[value] }))}
      value={split}
      onChange={onChange}
    />
  );
}
