import { expect, it } from 'vitest';
import { makeServer, makeSystem } from '../../../test/makeSystem';
import { serverNames, serversOf } from './servers';

const withId = (name: string, id: string) => `${name} (${id})`;

it('the server that answers is among the servers, also if it could not say so', () => {
  const other = makeServer({ id: 'b2', name: 'keys-2' });
  const { server } = makeSystem();
  expect(serversOf(makeSystem({ servers: [other] }))).toEqual([server, other]);
  expect(serversOf(makeSystem({ servers: [other, server] }))).toEqual([other, server]);
});

it('servers of one name are told apart by their ids', () => {
  const servers = [makeServer(), makeServer({ id: 'b2' }), makeServer({ id: 'c3', name: 'keys-3' })];
  expect([...serverNames(servers, withId).values()]).toEqual(['keys-1 (a1)', 'keys-1 (b2)', 'keys-3']);
});
