import { Anchor, Box, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useUser } from '../../api/session';
import { formatUsd } from '../../format/money';
import { roleKey } from '../../format/role';
import { spaceBetween } from '../../format/space';
import { PeriodBars } from '../../shared/limits/PeriodBars';
import { limitedPeriods } from '../../shared/limits/periodBar';
import { Money } from '../../shared/Money';
import { StatCard } from '../../shared/StatCard';
import { ForecastLines } from '../../shared/usage/ForecastLines';
import { texts } from '../../texts';
import classes from './OverviewPage.module.css';

const words = texts.overview.wallet;

export function WalletCard() {
  const { id, role, quota, used_quota, period_usage } = useUser();
  const who = roleKey(role);
  return (
    <StatCard title={words.title} value={<Money units={quota} />} className={classes.wallet}>
      {quota > 0 ? (
        <div>{words.spent(formatUsd(used_quota))}</div>
      ) : (
        <Text inherit c="var(--km-warn)">
          {words.empty[who]}
          {who === 'root' && spaceBetween(words.empty[who], words.topUp)}
          {who === 'root' && (
            <Anchor component={Link} href={`/admin/users/${id}`} inherit underline="always">
              {words.topUp}
            </Anchor>
          )}
        </Text>
      )}
      <ForecastLines usage={period_usage} isStopped={quota <= 0} />
      {limitedPeriods(period_usage).length > 0 && (
        <Box mt="xs">
          <PeriodBars usage={period_usage} of="account" />
        </Box>
      )}
    </StatCard>
  );
}
