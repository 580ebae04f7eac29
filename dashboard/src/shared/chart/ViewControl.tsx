import { SegmentedControl } from '@mantine/core';
import { texts } from '../../texts';

const words = texts.common.spendChart;

export type View = 'chart' | 'table';

const views: { value: View; label: string }[] = [
  { value: 'chart', label: words.chart },
  { value: 'table', label: words.table },
];

interface Props {
  view: View;
  onChange: (view: View) => void;
}

/** Chooses between a chart and a table of the same amounts. */
export function ViewControl({ view, onChange }: Props) {
  return <SegmentedControl<View> aria-label={words.view} data={views} value={view} onChange={onChange} />;
}
