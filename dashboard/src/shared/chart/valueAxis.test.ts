import { describe, expect, it } from 'vitest';
import { valueAxis } from './valueAxis';

const USD = 500_000;

describe('the axis of values', () => {
  it.each([
    [12.42, ['$0', '$5', '$10', '$15']],
    [10, ['$0', '$5', '$10']],
    [3.9, ['$0', '$1', '$2', '$3', '$4']],
    [0.42, ['$0', '$0.20', '$0.40', '$0.60']],
    [0.03, ['$0', '$0.01', '$0.02', '$0.03']],
    [0.0004, ['$0', '$0.0001', '$0.0002', '$0.0003', '$0.0004']],
    [0.000002, ['$0', '$0.000002']],
    [0.9, ['$0', '$0.50', '$1.00']],
    [1200, ['$0', '$500', '$1,000', '$1,500']],
    [8000, ['$0', '$2,000', '$4,000', '$6,000', '$8,000']],
    [12_000, ['$0', '$5K', '$10K', '$15K']],
    [999_999_999, ['$0', '$500M', '$1B']],
  ])('has few round steps up to %d dollars', (usd, labels) => {
    const { top, ticks } = valueAxis(usd * USD);
    expect(ticks.map(({ label }) => label)).toEqual(labels);
    expect(top).toBe(ticks.at(-1)?.units);
    expect(top).toBeGreaterThanOrEqual(usd * USD);
  });

  it('has only the base if nothing was spent', () => {
    expect(valueAxis(0)).toEqual({ top: 0, ticks: [{ units: 0, label: '$0' }] });
  });
});
