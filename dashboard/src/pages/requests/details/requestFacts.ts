import type { PastRequest, Refusal } from '../../../api/requestHistory';
import type { UsageScope } from '../../../api/usageReports';
import { formatInteger } from '../../../format/locale';
import { formatUsdExact } from '../../../format/money';
import { formatRatio } from '../../../format/rate';
import { sentence } from '../../../format/sentence';
import { formatZonedMoment } from '../../../format/time';
import { cureText, refusalDetails, refusalTitle } from '../../../shared/usage/refusalText';
import { requestStatus } from '../../../shared/usage/requestStatus';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import { remedyText } from '../../keys/remedies/remedies';
import { lineText } from '../../prices/lineText';
import { unitLabel } from '../../prices/units';

const words = texts.requests.details;
const { held } = texts.adminHome.attention;

export interface RequestFact {
  name: string;
  text: string;
  /** A page about it. */
  href?: string;
  /** What others ask for, so it has a button that copies it. */
  copies?: boolean;
  /** What ends the refusal: a button says it, if the reader may press one. */
  isRemedy?: boolean;
  /** Needs more than half of the width. */
  isLong?: boolean;
}

interface FactGroup {
  title: string;
  facts: RequestFact[];
}

type Entry = RequestFact | false | null | undefined | '';

/** Everything that is known of a request, in words: first why it was refused. Nothing of it is secret. */
export function requestFacts(request: PastRequest, scope: UsageScope, now: number): FactGroup[] {
  const groups = [
    { title: words.refusal, facts: request.refusal ? refusalFacts(request.refusal, now) : [] },
    { title: words.request, facts: identity(request, scope) },
    { title: words.cost, facts: request.refusal ? [] : costFacts(request) },
    { title: words.price, facts: priceFacts(request) },
    { title: words.reservation, facts: reservationFacts(request) },
  ];
  return groups
    .map(({ title, facts }) => ({
      title,
      facts: facts.filter((fact) => typeof fact === 'object' && fact !== null),
    }))
    .filter(({ facts }) => facts.length > 0);
}

function identity(request: PastRequest, scope: UsageScope): Entry[] {
  const { at, token_id, token_name, user_id, username, model, ip, request_id, id, details, refusal } =
    request;
  const { gateway_name, gateway_id } = request;
  const gateway = gateway_name ?? (gateway_id && texts.usage.requestHistory.removedGateway(gateway_id));
  const call = refusal?.call ?? details?.call;
  const isOwn = scope === 'own';
  return [
    { name: words.status, text: requestStatus(request).text },
    { name: words.time, text: formatZonedMoment(at) },
    token_id == null
      ? { name: words.key, text: texts.usage.refused.reasons.invalid_key }
      : { name: words.key, text: token_name ?? '', href: `${isOwn ? '/keys' : '/admin/tokens'}/${token_id}` },
    !isOwn && user_id != null && { name: words.owner, text: username ?? '', href: `/admin/users/${user_id}` },
    { name: words.model, text: model || texts.usage.noModel },
    { name: words.gateway, text: gateway || words.unknown },
    { name: words.address, text: ip ?? words.unknown },
    call && { name: words.call, text: callText(call) },
    { name: words.requestId, text: request_id ?? words.unknown, copies: request_id != null, isLong: true },
    { name: words.listId, text: id, isLong: true },
  ];
}

/** For example "Charge (charge)": support knows calls by the names that the API has. */
function callText(call: string): string {
  const text = textOf(words.calls, call);
  return text ? texts.usage.recent.detailed(text, call) : call;
}

function refusalFacts(refusal: Refusal, now: number): Entry[] {
  const { reason, message, requested, retry_after, suppressed, cured, remedy } = refusal;
  const details = refusalDetails(refusal, now);
  const remedies = remedy && remedyText(remedy);
  return [
    { name: words.reason, text: refusalTitle(refusal), isLong: true },
    details && { name: words.limit, text: details, isLong: true },
    cured && { name: words.now, text: cureText(cured, now) },
    remedies && { name: words.wouldPass, text: remedies, isRemedy: true, isLong: true },
    { name: words.message, text: sentence(message), isLong: true },
    { name: words.code, text: reason },
    requested != null && { name: words.requested, text: formatUsdExact(requested) },
    retry_after != null && { name: words.retryAfter, text: words.seconds(retry_after) },
    suppressed > 0 && {
      name: words.similar,
      text: texts.usage.requestHistory.suppressed(suppressed),
      isLong: true,
    },
  ];
}

function costFacts(request: PastRequest): Entry[] {
  const { quota, shortfall, priced_by, hold_reason, details } = request;
  const why = hold_reason && (textOf(held.reasons, hold_reason) ?? held.otherReason(hold_reason));
  return [
    { name: words.charged, text: amount(quota) },
    shortfall > 0 && { name: words.notCovered, text: amount(shortfall) },
    shortfall > 0 && { name: words.whole, text: amount(details?.requested ?? quota + shortfall) },
    priced_by && {
      name: words.decidedBy,
      text: textOf(words.pricedBy, priced_by) ?? priced_by,
      isLong: true,
    },
    why && { name: words.heldBecause, text: sentence(why), isLong: true },
    ...countedFacts(request),
  ];
}

/** All that was counted. Of imported requests only tokens are known. */
function countedFacts({ units, prompt_tokens, completion_tokens }: PastRequest): RequestFact[] {
  const known = Object.entries(units ?? {});
  const tokens = { input_tokens: prompt_tokens, output_tokens: completion_tokens };
  const counted = known.length > 0 ? known : Object.entries(tokens);
  return counted.map(([unit, count]) => ({ name: unitLabel(unit), text: formatInteger(count) }));
}

/** "$0.50 = 250,000 units". */
function amount(units: number): string {
  return `${formatUsdExact(units)} = ${texts.common.units(formatInteger(units))}`;
}

function priceFacts({ details, priced_by }: PastRequest): Entry[] {
  if (!details || priced_by !== 'units') return [];
  const { price } = details;
  if (!price) return [{ name: words.price, text: words.priceLost, isLong: true }];
  return [
    ...price.lines.map((line) => ({ name: unitLabel(line.unit), text: lineText(line), isLong: true })),
    { name: words.ratio, text: formatRatio(price.ratio) },
  ];
}

function reservationFacts({ reservation_id, details }: PastRequest): Entry[] {
  if (reservation_id == null) return [];
  const id = { name: words.reservationId, text: reservation_id, isLong: true };
  const reservation = details?.reservation;
  if (!reservation) return [id, details && { name: words.held, text: words.reservationOver, isLong: true }];
  const { held: hold, created_time, expires_at, on_expiry, expired } = reservation;
  return [
    id,
    { name: words.held, text: amount(hold) },
    { name: words.created, text: formatZonedMoment(created_time) },
    { name: words.expires, text: formatZonedMoment(expires_at) },
    { name: words.onExpiry, text: textOf(words.onExpiryOf, on_expiry) ?? on_expiry },
    { name: words.ended, text: expired ? words.late : words.inTime },
  ];
}

/** All facts as plain text, with the address at which they are. */
export function supportText(groups: FactGroup[], link: string): string {
  const parts = groups.map(({ title, facts }) =>
    [title, ...facts.map(({ name, text }) => `  ${texts.common.labelled(name, text)}`)].join('\n'),
  );
  return [...parts, link].join('\n\n');
}
