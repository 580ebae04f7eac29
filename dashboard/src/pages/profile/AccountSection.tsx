import type { ReactNode } from 'react';
import { useUser } from '../../api/session';
import { formatInteger } from '../../format/locale';
import { roleName } from '../../format/role';
import { formatDay } from '../../format/time';
import { Money } from '../../shared/Money';
import { Section } from '../../shared/Section';
import { texts } from '../../texts';
import classes from './AccountSection.module.css';

const words = texts.profile.account;

export function AccountSection() {
  const user = useUser();
  const facts: [string, ReactNode][] = [
    [words.username, user.username],
    [words.role, roleName(user.role)],
    [words.group, user.group],
    [words.wallet, <Money key="wallet" units={user.quota} />],
    [words.spent, <Money key="spent" units={user.used_quota} />],
    [words.requests, formatInteger(user.request_count)],
    [words.created, formatDay(user.created_time)],
  ];
  if (typeof user.max_tokens === 'number') facts.push([words.maxTokens, formatInteger(user.max_tokens)]);
  return (
    <Section title={words.title}>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
