import type { ServerOfSystem, System } from '../../../api/adminSystem';

/** All servers. The one that answers is among them, also if it cannot say so to the others. */
export function serversOf({ server, servers }: System): ServerOfSystem[] {
  return servers.some(({ id }) => id === server.id) ? servers : [server, ...servers];
}

/** Names of servers by their ids. Where two have one name, with the id: several may run on one machine. */
export function serverNames(servers: ServerOfSystem[], withId: (name: string, id: string) => string) {
  const isTwice = (name: string) => servers.filter((server) => server.name === name).length > 1;
  const names = servers.map(({ id, name }) => [id, isTwice(name) ? withId(name, id) : name] as const);
  return new Map(names);
}
