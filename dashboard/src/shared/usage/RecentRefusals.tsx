import { Anchor, Text } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { UsageScope } from '../../api/usageReports';
import { formatList } from '../../format/list';
import { joined } from '../../format/space';
import { formatRelative } from '../../format/time';
import { texts } from '../../texts';
import classes from '../Attention.module.css';
import { ToneBadge } from '../ToneBadge';
import { useNow } from '../useNow';
import type { Alarm, QuietRefusals } from './recentRefusals';
import { reasonText, refusalDetails, refusalTitle } from './refusalText';
import { requestsHref } from './requestFilters';

const words = texts.usage.recent;

interface RowProps {
  alarm: Alarm;
  scope: UsageScope;
  /** Why the key needs attention besides. */
  attention?: string;
  /** What ends the refusals. */
  remedy?: ReactNode;
}

/** Requests of a key that were refused, about which somebody has to act, with a link to them. */
export function AlarmingRow({ alarm, scope, attention = '', remedy }: RowProps) {
  const [{ token_id, token_name, username, ...first }, ...others] = alarm;
  const now = useNow();
  const name = token_name ?? texts.usage.refused.reasons.invalid_key;
  const reason = others.length === 0 ? first.reason : '';
  const whys = alarm.map((refusals) => {
    const details = refusalDetails(refusals, now);
    return details ? words.detailed(refusalTitle(refusals), details) : refusalTitle(refusals);
  });
  const requests = alarm.reduce((sum, refusals) => sum + refusals.requests, 0);
  const last = Math.max(...alarm.map((refusals) => refusals.last));
  return (
    <li className={classes.row}>
      <Link href={requestsHref(scope, { token_id, outcome: 'refused', reason })} className={classes.key}>
        <div className={classes.words}>
          <div>
            <div className={classes.name}>{scope === 'own' ? name : words.of(name, username ?? '')}</div>
            <Text size="sm" c="dimmed">
              {joined(attention, words.sentence(formatList(whys), requests, formatRelative(last, now)))}
            </Text>
          </div>
          <ToneBadge tone="bad">{words.word}</ToneBadge>
        </div>
        <IconChevronRight size={18} stroke={1.6} className={classes.arrow} />
      </Link>
      {remedy && <div className={classes.remedy}>{remedy}</div>}
    </li>
  );
}

/** The other refusals of the last hour: of models, addresses, rates and unknown keys, and what is cured. */
export function QuietLine({
  quiet: { requests, reasons },
  scope,
}: {
  quiet: QuietRefusals;
  scope: UsageScope;
}) {
  if (requests === 0) return null;
  return (
    <Text size="sm" c="dimmed" mt="sm">
      {words.quiet(requests, formatList(reasons.map(quietText)))}{' '}
      <Anchor component={Link} href={requestsHref(scope, { outcome: 'refused' })} inherit underline="always">
        {words.show}
      </Anchor>
    </Text>
  );
}

function quietText({ reason, isCured }: QuietRefusals['reasons'][number]): string {
  return isCured ? texts.usage.cure.among(reasonText(reason)) : reasonText(reason);
}
