import { Anchor, Group, Paper, Skeleton, Text, Title } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Attention, Overview } from '../../api/overview';
import classes from '../../shared/Attention.module.css';
import { NothingToDo } from '../../shared/NothingToDo';
import { ToneBadge } from '../../shared/ToneBadge';
import { AlarmingRow, QuietLine } from '../../shared/usage/RecentRefusals';
import { splitRefusals } from '../../shared/usage/recentRefusals';
import { useNow } from '../../shared/useNow';
import { texts } from '../../texts';
import { useFixes } from '../keys/fixes/useFixes';
import { explain, explainAccount, listsOf, troubleOf } from './attention';
import page from './OverviewPage.module.css';

const words = texts.overview.attention;
const SKELETONS = ['a', 'b', 'c'];

/** Keys that stopped working or soon will, and requests that were refused, with links and what ends it. */
export function AttentionCard({ overview }: { overview: Overview | undefined }) {
  const isStopped = overview !== undefined && overview.account_state !== 'working';
  const { alarming, quiet } = splitRefusals(overview?.refused_last_hour ?? []);
  const { fix, form } = useFixes();
  const more = overview ? overview.attention_total - overview.attention.length : 0;
  return (
    <Paper component="section" p="lg" className={page.all} aria-busy={!overview}>
      <Title order={2} mb="sm">
        {words.title}
      </Title>
      {overview?.attention_total === 0 && alarming.length === 0 && !isStopped ? (
        <NothingToDo hint={words.noneHint} />
      ) : (
        <ul className={`${classes.keys} ${classes.columns}`}>
          {isStopped && <StoppedAccount overview={overview} />}
          {alarming.map((refusals) => (
            <AlarmingRow
              key={`${refusals.token_id} ${refusals.reason}`}
              refusals={refusals}
              scope="own"
              fix={
                refusals.token_id != null &&
                fix({ id: refusals.token_id, name: refusals.token_name ?? '' }, refusals)
              }
            />
          ))}
          {overview
            ? overview.attention.map((attention) => (
                <AttentionRow
                  key={attention.token.id}
                  attention={attention}
                  fix={fix(attention.token, troubleOf(attention))}
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
      {form}
    </Paper>
  );
}

function AttentionRow({ attention, fix }: { attention: Attention; fix: ReactNode }) {
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
      {fix && <div className={classes.fix}>{fix}</div>}
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
