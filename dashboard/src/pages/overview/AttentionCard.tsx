import { Anchor, Group, Paper, Skeleton, Text, Title } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Attention, Overview } from '../../api/overview';
import { useUser } from '../../api/session';
import classes from '../../shared/Attention.module.css';
import { NothingToDo } from '../../shared/NothingToDo';
import { ToneBadge } from '../../shared/ToneBadge';
import { AlarmingRow, QuietLine } from '../../shared/usage/RecentRefusals';
import { splitRefusals } from '../../shared/usage/recentRefusals';
import { useNow } from '../../shared/useNow';
import { texts } from '../../texts';
import { keyOfRow } from '../keys/remedies/remedies';
import { useRemedies } from '../keys/remedies/useRemedies';
import { explain, explainAccount, listsOf } from './attention';
import page from './OverviewPage.module.css';

const words = texts.overview.attention;
const SKELETONS = ['a', 'b', 'c'];

/** Keys that stopped working or soon will, and requests that were refused, with links and what ends it. */
export function AttentionCard({ overview }: { overview: Overview | undefined }) {
  const isStopped = overview !== undefined && overview.account_state !== 'working';
  const { alarms, quiet } = splitRefusals(overview?.refused_last_hour ?? []);
  const { id, username } = useUser();
  const owner = { id, name: username };
  const { show, forms } = useRemedies();
  const now = useNow();
  const attentionOf = (token: number | null | undefined) =>
    overview?.attention.find((attention) => attention.token.id === token);
  const others = overview?.attention.filter(
    (attention) => !alarms.some(([{ token_id }]) => token_id === attention.token.id),
  );
  const more = overview ? overview.attention_total - overview.attention.length : 0;
  return (
    <Paper component="section" p="lg" className={page.all} aria-busy={!overview}>
      <Title order={2} mb="sm">
        {words.title}
      </Title>
      {overview?.attention_total === 0 && alarms.length === 0 && !isStopped ? (
        <NothingToDo hint={words.noneHint} />
      ) : (
        <ul className={`${classes.keys} ${classes.columns}`}>
          {isStopped && <StoppedAccount overview={overview} />}
          {alarms.map((alarm) => {
            const [refusals] = alarm;
            const attention = attentionOf(refusals.token_id);
            return (
              <AlarmingRow
                key={refusals.token_id}
                alarm={alarm}
                scope="own"
                attention={attention && explain(attention, now).sentence}
                remedy={show(refusals.remedy ?? attention?.remedy, keyOfRow(refusals))}
              />
            );
          })}
          {others
            ? others.map((attention) => (
                <AttentionRow
                  key={attention.token.id}
                  attention={attention}
                  remedy={show(attention.remedy, { ...attention.token, owner })}
                />
              ))
            : SKELETONS.map((skeleton) => (
                <li key={skeleton} className={classes.key}>
                  <Skeleton h={40} />
                </li>
              ))}
        </ul>
      )}
      {overview && more > 0 && (
        <Group gap="xs" mt="xs">
          <Text size="sm">{words.more(more)}</Text>
          {listsOf(overview).map(({ href, show }) => (
            <Anchor key={href} component={Link} href={href} size="sm">
              {words.show[show]}
            </Anchor>
          ))}
        </Group>
      )}
      <QuietLine quiet={quiet} scope="own" />
      {forms}
    </Paper>
  );
}

function AttentionRow({ attention, remedy }: { attention: Attention; remedy: ReactNode }) {
  const { tone, word, sentence } = explain(attention, useNow());
  const { id, name } = attention.token;
  return (
    <li className={classes.row}>
      <Link href={`/keys/${id}`} className={classes.key}>
        <div className={classes.words}>
          <div>
            <div className={classes.name}>{name}</div>
            <Text size="sm" c="dimmed">
              {sentence}
            </Text>
          </div>
          <ToneBadge tone={tone}>{word}</ToneBadge>
        </div>
        <IconChevronRight size={18} stroke={1.6} className={classes.arrow} />
      </Link>
      {remedy && <div className={classes.remedy}>{remedy}</div>}
    </li>
  );
}

/** What stops all keys, however much quota they have. */
function StoppedAccount({ overview }: { overview: Overview }) {
  const { name, word, sentence } = explainAccount(overview, useNow());
  return (
    <li className={classes.key}>
      <div className={classes.words}>
        <div>
          <div className={classes.name}>{name}</div>
          <Text size="sm" c="dimmed">
            {sentence}
          </Text>
        </div>
        <ToneBadge tone="bad">{word}</ToneBadge>
      </div>
    </li>
  );
}
