import { expect, it } from 'vitest';
import type { Gateway } from '../../../api/adminGateways';
import { byLastUse } from './gatewayUse';

const gateway = (id: number, ...uses: (number | null)[]): Gateway => ({
  id,
  name: `gateway ${id}`,
  created_time: 1,
  created_by: 1,
  credentials: uses.map((last_used_time, index) => ({
    id: index,
    hint: 'abcd',
    created_time: 1,
    created_by: 1,
    last_used_time,
  })),
});

it('gateways are sorted by the last use of any of their credentials', () => {
  const gateways = [gateway(1), gateway(2, 10, null), gateway(3, 5, 20), gateway(4, null)];
  expect(byLastUse(gateways).map(({ id, lastUse }) => [id, lastUse])).toEqual([
    [3, 20],
    [2, 10],
    [1, undefined],
    [4, undefined],
  ]);
});
