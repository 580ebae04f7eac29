import type { ReportRow, UsageScope, UsageSplit } from '../../api/usageReports';
import { texts } from '../../texts';

const words = texts.usage;

/** The name of a model, key, user, group or gateway. In usage of all users, a key has its owner too. No row: all others. */
export function rowName(row: ReportRow | undefined, split: UsageSplit, scope: UsageScope): string {
  if (!row) return words.other;
  const { model, token_name, username, group, gateway_id, gateway_name } = row;
  switch (split) {
    case 'model':
      return model || words.noModel;
    case 'user':
      return username ?? '';
    case 'group':
      return group ?? '';
    case 'gateway':
      return gateway_name || (gateway_id == null ? words.noGateway : words.removedGateway(gateway_id));
    case 'token':
      return scope === 'allUsers' ? `${token_name} · ${username}` : (token_name ?? '');
  }
}
