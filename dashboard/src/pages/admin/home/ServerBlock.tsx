import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useReadiness } from '../../../api/readiness';
import { useStatus } from '../../../api/status';
import { failureText } from '../../../format/failure';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { Block } from './Block';

const words = texts.adminHome.health;

/** Whether the server that answers is ready, and its version. */
export function ServerBlock() {
  const { data, error, refetch } = useReadiness();
  const version = useStatus().data?.version;
  return (
    <Block title={words.title} data={data} error={error} onRetry={refetch} rows={1}>
      {({ problem }) => (
        <>
          <Group justify="space-between">
            <ToneBadge tone={problem ? 'bad' : 'ok'}>{problem ? words.notReady : words.ready}</ToneBadge>
            {version && (
              <Text size="sm" c="dimmed">
                {words.version} {version}
              </Text>
            )}
          </Group>
          <Text size="sm" c="dimmed" mt="xs">
            {problem ? failureText(problem) : words.readyHint}
          </Text>
          <Anchor component={Link} href="/admin/imports" size="sm" display="inline-block" mt="sm">
            {texts.adminImports.link}
          </Anchor>
        </>
      )}
    </Block>
  );
}
