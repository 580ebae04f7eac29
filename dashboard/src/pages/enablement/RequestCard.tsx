import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { EnablementRequest } from '../../api/enablement';
import { RelativeTime } from '../../shared/RelativeTime';
import { type Tone, ToneBadge } from '../../shared/ToneBadge';
import { texts } from '../../texts';
import classes from './RequestCard.module.css';

const words = texts.enablement;

/** The state of the latest request. If it is approved but the account has no access, access was removed later. */
function describe({ state, note }: EnablementRequest): {
  tone: Tone;
  badge: string;
  title: string;
  hint?: string;
} {
  if (state === 'pending') return { tone: 'info', ...words.pending };
  if (state === 'approved') return { tone: 'off', ...words.ended };
  const { badge, title, noNote } = words.refused;
  return { tone: 'bad', badge, title, hint: note ? undefined : noNote };
}

export function RequestCard({ request }: { request: EnablementRequest }) {
  const { tone, badge, title, hint } = describe(request);
  return (
    <Paper component="section" p="lg">
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="xs">
        <Title order={2}>{title}</Title>
        <ToneBadge tone={tone}>{badge}</ToneBadge>
      </Group>
      <Stack>
        {hint && <Text c="dimmed">{hint}</Text>}
        {request.note && <Quote by={words.note} text={request.note} />}
        <Quote by={words.yourReason} text={request.reason} />
        <Text size="sm" c="dimmed">
          <RelativeTime label={words.requested} seconds={request.created_time} />
          {request.decided_time && (
            <>
              {' · '}
              <RelativeTime label={words.answered} seconds={request.decided_time} />
              {request.decided_by_name && ` ${words.by(request.decided_by_name)}`}
            </>
          )}
        </Text>
      </Stack>
    </Paper>
  );
}

function Quote({ by, text }: { by: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {by}
      </Text>
      <blockquote className={classes.quote}>{text}</blockquote>
    </div>
  );
}
