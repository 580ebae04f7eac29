import { describe, expect, it } from 'vitest';
import type { ReportRow } from '../../api/usageReports';
import { texts } from '../../texts';
import { rowName } from './splitNames';

const words = texts.usage;
const amounts = { quota: 1, usd: 0, requests: 1, prompt_tokens: 0, completion_tokens: 0 };

function nameOf(
  row: Partial<ReportRow>,
  ...rest: [Parameters<typeof rowName>[1], Parameters<typeof rowName>[2]]
) {
  return rowName({ ...amounts, ...row }, ...rest);
}

describe('rowName', () => {
  it('names models, keys and users', () => {
    expect(nameOf({ model: 'o1' }, 'model', 'own')).toBe('o1');
    expect(nameOf({ model: '' }, 'model', 'own')).toBe(words.noModel);
    expect(nameOf({ token_name: 'app', username: 'ana' }, 'token', 'own')).toBe('app');
    expect(nameOf({ token_name: 'app', username: 'ana' }, 'token', 'allUsers')).toBe('app · ana');
    expect(nameOf({ username: 'ana' }, 'user', 'allUsers')).toBe('ana');
    expect(rowName(undefined, 'model', 'own')).toBe(words.other);
  });

  it('names gateways, also removed and unknown ones', () => {
    expect(nameOf({ gateway_id: 2, gateway_name: 'edge' }, 'gateway', 'allUsers')).toBe('edge');
    expect(nameOf({ gateway_id: 2, gateway_name: '' }, 'gateway', 'allUsers')).toBe(words.removedGateway(2));
    expect(nameOf({ gateway_id: null, gateway_name: '' }, 'gateway', 'allUsers')).toBe(words.noGateway);
  });
});
