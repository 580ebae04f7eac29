import { Anchor, Text } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { RecentRefusals } from '../../api/overview';
import type { UsageScope } from '../../api/usageReports';
import { formatList } from '../../format/list';
import { formatRelative } from '../../format/time';
import { texts } from '../../texts';
import classes from '../Attention.module.css';
import { ToneBadge } from '../ToneBadge';
import { useNow } from '../useNow';
import { reasonText } from './RefusedRequests';
import type { QuietRefusals } from './recentRefusals';
import { requestsHref } from './requestFilters';

const words = texts.usage.recent;

interface RowProps {
  refusals: RecentRefusals;
  scope: UsageScope;
  /** What ends the refusals. */
  fix?: ReactNode;
}

/** Requests of a key that were refused for a reason about which somebody has to act, with a link to them. */
export function AlarmingRow({ refusals, scope, fix }: RowProps) {
  const { token_id, token_name, username, reason, requests, last } = refusals;
  const now = useNow();
  const name = token_name ?? texts.usage.refused.reasons.invalid_key;
  return (
    <li className={classes.row}>
      <Link href={requestsHref(scope, { token_id, outcome: 'refused', reason })} className={classes.key}>
        <div className={classes.words}>
          <div>
            <div className={classes.name}>{scope === 'own' ? name : words.of(name, username ?? '')}</div>
            <Text size="sm" c="dimmed">
              {words.sentence(reasonText(reason), requests, formatRelative(last, now))}
            </Text>
          </div>
          <ToneBadge tone="bad">{words.word}</ToneBadge>
        </div>
        <IconChevronRight size={18} stroke={1.6} className={classes.arrow} />
      </Link>
      {fix && <div className={classes.fix}>{fix}</div>}
    </li>
  );
}

/** The other refusals of the last hour: of models, addresses, rates and unknown keys. */
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
      {words.quiet(requests, formatList(reasons.map(reasonText)))}{' '}
      <Anchor component={Link} href={requestsHref(scope, { outcome: 'refused' })} inherit underline="always">
        {words.show}
      </Anchor>
    </Text>
  );
}
