import { Alert, Code, Group, Stack, Text, Title } from '@mantine/core';
import { formatInteger, locale } from '../../format/locale';
import { CopyButton } from '../../shared/CopyButton';
import { ToneBadge } from '../../shared/ToneBadge';
import { useScrollRegion } from '../../shared/useScrollRegion';
import { texts } from '../../texts';
import classes from './ReferencePage.module.css';
import type { Result } from './send';

const words = texts.reference.answer;

const duration = new Intl.NumberFormat(locale, {
  style: 'unit',
  unit: 'millisecond',
  maximumFractionDigits: 0,
});

/** The answer to a request: status, time, body. */
export function AnswerView({ result, mayBeSecret }: { result: Result; mayBeSecret: boolean }) {
  const { status, milliseconds, contentType, requestId, body, cut } = result;
  const { style, ...scrollRegion } = useScrollRegion<HTMLPreElement>(words.body);
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Group gap="sm">
          <Title order={4} fz="md">
            {words.title}
          </Title>
          <ToneBadge tone={status < 400 ? 'ok' : status < 500 ? 'warn' : 'bad'}>
            {words.status(status)}
          </ToneBadge>
          <Text size="sm" c="dimmed">
            {duration.format(milliseconds)}
            {contentType && ` · ${contentType}`}
          </Text>
        </Group>
        {body && <CopyButton value={body} label={words.copy} />}
      </Group>
      {mayBeSecret && status < 400 && <Alert color="yellow">{words.secret}</Alert>}
      {body ? (
        <Code block fz="xs" className={classes.body} style={style} {...scrollRegion}>
          {body}
        </Code>
      ) : (
        <Text size="sm">{words.noBody}</Text>
      )}
      {cut > 0 && <Text size="sm">{words.cut(formatInteger(cut))}</Text>}
      {requestId && (
        <Text size="xs" c="dimmed">
          {texts.common.labelled(words.requestId, requestId)}
        </Text>
      )}
    </Stack>
  );
}
