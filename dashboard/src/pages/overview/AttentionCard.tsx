import { Anchor, Group, Paper, Skeleton, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck, IconChevronRight } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { Attention, Overview } from '../../api/overview';
import { ToneBadge } from '../../shared/ToneBadge';
import { useNow } from '../../shared/useNow';
import { texts } from '../../texts';
import classes from './AttentionCard.module.css';
import { explain, explainAccount } from './attention';
import page from './OverviewPage.module.css';

const words = texts.overview.attention;
const SKELETONS = ['a', 'b', 'c'];

/** Keys that stopped working or soon will, with links. */
export function AttentionCard({ overview }: { overview: Overview | undefined }) {
  const isStopped = overview !== undefined && overview.account_state !== 'working';
  const more = overview ? overview.attention_total - overview.attention.length : 0;
  return (
    <Paper component="section" p="lg" className={page.all} aria-busy={!overview}>
      <Title order={2} mb="sm">
        {words.title}
      </Title>
      {overview?.attention_total === 0 && !isStopped ? (
        <NoAttention />
      ) : (
        <ul className={classes.keys}>
          {isStopped && <StoppedAccount overview={overview} />}
          {overview
            ? overview.attention.map((attention) => (
                <AttentionRow key={attention.token.id} attention={attention} />
              ))
            : SKELETONS.map((skeleton) => (
                <li key={skeleton} className={classes.key}>
                  <Skeleton h={40} />
                </li>
              ))}
        </ul>
      )}
      {more > 0 && (
        <Anchor component={Link} href="/keys" size="sm">
          {words.more(more)}
        </Anchor>
      )}
    </Paper>
  );
}

function AttentionRow({ attention }: { attention: Attention }) {
  const { tone, word, sentence } = explain(attention, useNow());
  const { id, name } = attention.token;
  return (
    <li>
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

function NoAttention() {
  return (
    <Group gap="md" wrap="nowrap" py="xs">
      <ThemeIcon size={40} radius="xl" bg="var(--km-ok-tint)" c="var(--km-ok)">
        <IconCheck size={22} />
      </ThemeIcon>
      <Stack gap={0}>
        <Text fw={600}>{words.none}</Text>
        <Text size="sm" c="dimmed">
          {words.noneHint}
        </Text>
      </Stack>
    </Group>
  );
}
