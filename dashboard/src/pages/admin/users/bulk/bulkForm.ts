import type { FormErrors } from '@mantine/form';
import type { UsersChange } from '../../../../api/bulkUsers';
import { parseUsd } from '../../../../format/typed';
import {
  changedPeriods,
  type LimitChange,
  limitChangeErrors,
  noLimitChange,
} from '../../../../shared/limits/limitChange';
import { texts } from '../../../../texts';
import { DISABLED, ENABLED } from '../status';
import { walletChange, walletNote } from '../wallet';
import { walletErrorText } from '../walletErrorText';

export const bulkActions = ['top_up', 'limits', 'group', 'enable', 'disable'] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkForm extends LimitChange {
  /** How the users are chosen, unless they were selected in the list. */
  source: 'names' | 'csv';
  names: string;
  /** Each line has its own amount, so a file only tops up. */
  csv: string;
  action: BulkAction;
  amount: string;
  note: string;
  group: string;
}

export const emptyBulkForm: BulkForm = {
  source: 'names',
  names: '',
  csv: '',
  action: 'top_up',
  amount: '',
  note: '',
  ...noLimitChange,
  group: '',
};

const words = texts.adminBulk;

export function readNames(typed: string): string[] {
  return typed.split(/[\s,;，；、]+/).filter((name) => name !== '');
}

/** What the form changes. */
export function actionOf(form: BulkForm, ids: number[] | undefined): BulkAction {
  return isFile(form, ids) ? 'top_up' : form.action;
}

/** Whether the lines of a file say whom to top up, and with how much. */
export function isFile({ source }: BulkForm, ids: number[] | undefined): boolean {
  return ids === undefined && source === 'csv';
}

/** The change of a valid form. `ids` are those of the users that were selected in the list. */
export function changeOf(form: BulkForm, ids: number[] | undefined): UsersChange {
  const note = walletNote(form.note);
  if (isFile(form, ids)) return { csv: form.csv, note };
  const whom = ids ? { ids } : { usernames: readNames(form.names) };
  switch (form.action) {
    case 'top_up': {
      const amount = parseUsd(form.amount);
      return { ...whom, add_quota: 'units' in amount ? amount.units : undefined, note };
    }
    case 'limits':
      return { ...whom, period_limits: changedPeriods(form) };
    case 'group':
      return { ...whom, group: form.group };
    case 'enable':
      return { ...whom, status: ENABLED };
    case 'disable':
      return { ...whom, status: DISABLED };
  }
}

/** The errors by field. What is still missing is none before the form was submitted. */
export function bulkErrors(form: BulkForm, ids: number[] | undefined, submitted: boolean): FormErrors {
  if (isFile(form, ids)) return { csv: submitted && form.csv.trim() === '' && words.noLines };
  return {
    names: submitted && !ids && readNames(form.names).length === 0 && words.noNames,
    ...actionErrors(form, submitted),
  };
}

function actionErrors(form: BulkForm, submitted: boolean): FormErrors {
  switch (form.action) {
    case 'top_up':
      return { amount: amountError(form.amount, submitted) };
    case 'limits':
      return limitChangeErrors(form, submitted);
    case 'group':
      return { group: submitted && form.group === '' && words.noGroup };
    case 'enable':
    case 'disable':
      return {};
  }
}

function amountError(typed: string, submitted: boolean) {
  const change = walletChange('add', 0, typed);
  return 'error' in change && (submitted || change.error !== 'empty') && walletErrorText(change.error, 0);
}
