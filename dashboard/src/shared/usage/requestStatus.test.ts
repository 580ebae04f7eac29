import { expect, it } from 'vitest';
import type { Refusal } from '../../api/requestHistory';
import { requestStatus } from './requestStatus';

const refusal = { reason: 'token_disabled', cured: null } as Refusal;
const charged = { outcome: 'charged', refusal: null, shortfall: 0 };

it.each([
  ['a charge', charged, 'Charged', 'off'],
  ['a charge that the wallet did not cover', { ...charged, shortfall: 1 }, 'Partly covered', 'warn'],
  ['a charge before an import', { ...charged, outcome: 'imported' }, 'Before the import', 'off'],
  ['a refusal', { ...charged, outcome: 'refused', refusal }, 'Refused', 'bad'],
  ['a cured refusal', { ...charged, refusal: { ...refusal, cured: { at: 1 } } }, 'Refused', 'ok'],
] as const)('the status of %s', (_, request, text, tone) => {
  expect(requestStatus(request)).toEqual({ text, tone });
});
