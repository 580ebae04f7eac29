import type { FormErrors } from '@mantine/form';
import type { TokenSet } from '../../../api/manyTokens';
import { DISABLED, ENABLED } from '../../../api/tokenSwitch';
import {
  changedPeriods,
  type LimitChange,
  limitChangeErrors,
  noLimitChange,
} from '../../../shared/limits/limitChange';
import { texts } from '../../../texts';
import { quotaToAdd } from '../actions/quotaToAdd';
import { type Expiry, expiredTime } from '../form/expiry';

/** What is done to many keys. */
export type ManyAction = 'enable' | 'disable' | 'add_quota' | 'change';

/** What `change` can change, one of them at a time. */
export const changeable = ['limits', 'expiry', 'group'] as const;
type Changeable = (typeof changeable)[number];

export interface ManyForm extends LimitChange {
  /** In US dollars, as typed. */
  amount: string;
  what: Changeable;
  expired_time: Expiry;
  /** Null until one is chosen. */
  group: string | null;
}

export const emptyManyForm: ManyForm = {
  amount: '',
  what: 'limits',
  ...noLimitChange,
  // Asks for a time, because none would be a good guess.
  expired_time: { choice: 'at', at: undefined },
  group: null,
};

/** The fields that a valid form changes. */
export function setOf(form: ManyForm, action: ManyAction, now: number): TokenSet {
  switch (action) {
    case 'enable':
      return { status: ENABLED };
    case 'disable':
      return { status: DISABLED };
    case 'add_quota': {
      const added = quotaToAdd(form.amount);
      return { add_quota: 'units' in added ? added.units : undefined };
    }
    case 'change':
      return changesOf(form, now);
  }
}

function changesOf(form: ManyForm, now: number): TokenSet {
  switch (form.what) {
    case 'limits':
      return { period_limits: changedPeriods(form) };
    case 'expiry':
      return { expired_time: expiredTime(form.expired_time, now) };
    case 'group':
      return { group: form.group };
  }
}

/** The errors by field. What is still missing is none before the form was submitted. */
export function manyErrors(form: ManyForm, action: ManyAction, submitted: boolean): FormErrors {
  if (action === 'add_quota') {
    const added = quotaToAdd(form.amount);
    return { amount: 'error' in added && (submitted || !added.isEmpty) && added.error };
  }
  return action === 'change' ? changeErrors(form, submitted) : {};
}

function changeErrors(form: ManyForm, submitted: boolean): FormErrors {
  switch (form.what) {
    case 'limits':
      return limitChangeErrors(form, submitted);
    case 'expiry': {
      const isMissing = submitted && expiredTime(form.expired_time, 0) === undefined;
      return { expired_time: isMissing && texts.keys.form.errors.noDateTime };
    }
    case 'group':
      return { group: submitted && form.group === null && texts.adminBulk.noGroup };
  }
}
