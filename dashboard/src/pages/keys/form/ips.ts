import { limits } from '../../../api/serverLimits';

export interface InvalidIp {
  /** Starts at 1. */
  line: number;
  entry: string;
}

/** Checks addresses and networks, separated by line breaks or commas as the server accepts them. */
export function checkIps(text: string): { invalid: InvalidIp[]; tooMany: boolean } {
  const entries = text
    .split('\n')
    .flatMap((line, index) => line.split(',').map((entry) => ({ line: index + 1, entry: entry.trim() })))
    .filter(({ entry }) => entry !== '');
  return {
    invalid: entries.filter(({ entry }) => !isNetwork(entry)),
    tooMany: new Set(entries.map(({ entry }) => entry)).size > limits.addresses,
  };
}

/** Returns true for an IPv4 or IPv6 address, or a network in CIDR notation. */
export function isNetwork(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  if (rest.length > 0) return false;
  if (isIpv4(address)) return prefix === undefined || (/^\d{1,2}$/.test(prefix) && Number(prefix) <= 32);
  if (isIpv6(address)) return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= 128);
  return false;
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1);
  // An IPv4 address can replace the last two groups.
  const embedded = last?.includes('.') ?? false;
  if (embedded && (!isIpv4(last ?? '') || text.endsWith('::'))) return false;
  const hex = embedded ? groups.slice(0, -1) : groups;
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const size = hex.length + (embedded ? 2 : 0);
  return halves.length === 2 ? size <= 7 : size === 8;
}
