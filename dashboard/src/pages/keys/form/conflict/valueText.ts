import { NO_LIMIT, periods, rates } from '../../../../api/limits';
import type { TokenFieldName } from '../../../../api/tokenChanges';
import type { Token } from '../../../../api/tokens';
import { formatList } from '../../../../format/list';
import { formatInteger } from '../../../../format/locale';
import { formatUsd, formatUsdExact } from '../../../../format/money';
import { formatDateTime, isTime } from '../../../../format/time';
import { texts } from '../../../../texts';
import { groupName } from '../../groupName';
import type { SwitchName } from '../fields';

const { none } = texts.keys.form.conflict;
const facts = texts.key.facts;

const valueTexts: Record<Exclude<TokenFieldName, SwitchName>, (token: Token) => string> = {
  name: ({ name }) => name,
  note: ({ note }) => note || none,
  remain_quota: ({ remain_quota }) => texts.common.quota.left(formatUsd(remain_quota)),
  period_limits: ({ period_limits }) =>
    lines(
      periods
        .filter((period) => period_limits[period] !== NO_LIMIT)
        .map((period) => texts.limits.presets[period](formatUsdExact(period_limits[period]))),
    ),
  rate_limits: ({ rate_limits }) =>
    lines(
      rates
        .filter((rate) => rate_limits[rate] !== NO_LIMIT)
        .map((rate) => texts.limits.rateFacts[rate](formatInteger(rate_limits[rate]))),
    ),
  expired_time: ({ expired_time }) =>
    isTime(expired_time) ? formatDateTime(expired_time) : texts.keys.form.expiryChoices.never,
  group: ({ group }) => groupName(group),
  model_limits: ({ model_limits }) => (model_limits === '' ? none : formatList(model_limits.split(','))),
  allow_ips: ({ allow_ips }) => allow_ips || facts.everywhere,
};

/** The value of a field, for people. It can have several lines. */
export function valueText(name: TokenFieldName, token: Token): string {
  if (name in valueTexts) return valueTexts[name as keyof typeof valueTexts](token);
  return token[name] ? facts.on : facts.off;
}

function lines(parts: string[]): string {
  return parts.join('\n') || none;
}
