import type { FormErrors } from '@mantine/form';
import { NO_LIMIT, type Period, periods } from '../../api/limits';
import { texts } from '../../texts';
import { emptyPeriods, type PeriodDraft, periodError, readPeriodLimit } from './draft';

/** A change of the limits of many. */
export interface LimitChange {
  /** As typed. An empty one stays as it is. */
  limits: PeriodDraft;
  /** The limits that are removed. */
  removed: Record<Period, boolean>;
}

export const noLimitChange: LimitChange = {
  limits: emptyPeriods,
  removed: { day: false, week: false, month: false },
};

/** The limits that change. */
export function changedPeriods({ limits, removed }: LimitChange): Partial<Record<Period, number>> {
  const changed = periods.flatMap((period): [Period, number][] => {
    if (removed[period]) return [[period, NO_LIMIT]];
    const limit = readPeriodLimit(limits[period]);
    return limit === undefined || limit === NO_LIMIT ? [] : [[period, limit]];
  });
  return Object.fromEntries(changed);
}

/** The errors by field. That nothing changes is none before the form was submitted. */
export function limitChangeErrors(change: LimitChange, submitted: boolean): FormErrors {
  const errors = periods.map((period) => [
    `limits.${period}`,
    change.removed[period] ? undefined : periodError(change.limits[period]),
  ]);
  const isEmpty = Object.keys(changedPeriods(change)).length === 0;
  const isMissing = submitted && errors.every(([, error]) => !error) && isEmpty;
  return isMissing ? { 'limits.day': texts.limits.change.nothing } : Object.fromEntries(errors);
}
