import type { Gateway } from '../../../api/adminGateways';

export interface GatewayUse {
  id: number;
  name: string;
  /** Unix seconds. Absent if no credential was ever used. */
  lastUse: number | undefined;
}

/** Gateways with the last use of any of their credentials, the latest first. */
export function byLastUse(gateways: Gateway[]): GatewayUse[] {
  return gateways
    .map(({ id, name, credentials }) => {
      const uses = credentials.flatMap(({ last_used_time }) => last_used_time ?? []);
      return { id, name, lastUse: uses.length > 0 ? Math.max(...uses) : undefined };
    })
    .sort((a, b) => (b.lastUse ?? 0) - (a.lastUse ?? 0));
}
