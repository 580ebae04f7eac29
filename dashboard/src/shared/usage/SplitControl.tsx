import { SegmentedControl } from '@mantine/core';
import type { UsageSplit } from '../../api/usageReports';
import { texts } from '../../texts';
import classes from './SplitControl.module.css';

interface Props<Split> {
  splits: readonly Split[];
  split: Split;
  onChange: (split: Split) => void;
}

/** What usage is split by. */
export function SplitControl<Split extends UsageSplit>({ splits, split, onChange }: Props<Split>) {
  return (
    <SegmentedControl<Split>
      aria-label={texts.usage.split}
      classNames={classes}
      data={splits.map((value) => ({ value, label: texts.usage.splits[value] }))}
      value={split}
      onChange={onChange}
    />
  );
}
