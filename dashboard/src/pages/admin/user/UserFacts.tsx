import { Text } from '@mantine/core';
import type { User } from '../../../api/session';
import { formatInteger } from '../../../format/locale';
import { formatUsd } from '../../../format/money';
import { roleName } from '../../../format/role';
import { Fact, Facts } from '../../../shared/Facts';
import { PeriodBars } from '../../../shared/limits/PeriodBars';
import { limitedPeriods } from '../../../shared/limits/periodBar';
import { Money } from '../../../shared/Money';
import { Section } from '../../../shared/Section';
import { ForecastLines } from '../../../shared/usage/ForecastLines';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { ENABLED } from '../users/status';

const words = texts.adminUser;

/** Who the user is, and what the account has and may do. */
export function UserFacts({ user }: { user: User }) {
  const { facts, wallet } = words;
  return (
    <Section title={facts.title}>
      <Facts>
        <Fact name={wallet.title} span="half">
          <Money units={user.quota} fw={600} c={user.quota > 0 ? undefined : 'var(--km-bad)'} />
          <Text size="sm" c="dimmed">
            {wallet.spent(formatUsd(user.used_quota))}
          </Text>
          <ForecastLines
            scope="allUsers"
            userId={user.id}
            usage={user.period_usage}
            isStopped={user.status !== ENABLED || user.quota <= 0}
          />
        </Fact>
        <Fact name={facts.requests}>
          <span className="tabular">{formatInteger(user.request_count)}</span>
        </Fact>
        <Fact name={facts.access}>{user.token_api_enabled ? texts.adminUsers.yes : texts.adminUsers.no}</Fact>
        <Fact name={facts.role}>{roleName(user.role)}</Fact>
        <Fact name={facts.group}>{user.group}</Fact>
        <Fact name={facts.limit}>
          {user.max_tokens == null ? texts.adminUsers.defaultLimit : formatInteger(user.max_tokens)}
        </Fact>
        <Fact name={facts.email}>{user.email || facts.none}</Fact>
        <Fact name={facts.created}>
          <When seconds={user.created_time} />
        </Fact>
        {limitedPeriods(user.period_usage).length > 0 && (
          <Fact name={facts.limits} span="half">
            <PeriodBars usage={user.period_usage} of="account" />
          </Fact>
        )}
      </Facts>
    </Section>
  );
}
