import { Anchor, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { ApiDocument } from '../../api/apiDocument';
import { CodeExample } from '../../shared/CodeExample';
import { texts } from '../../texts';
import { InlineCode } from './InlineCode';

const words = texts.reference.start;

/** What a program needs before its first request. */
export function GettingStarted({ document: { info } }: { document: ApiDocument }) {
  const { origin } = window.location;
  const example = `curl '${origin}/api/user/self' \\\n  -H "Authorization: $ACCESS_TOKEN"`;
  return (
    <Paper p="lg">
      <Stack gap="md">
        <Title order={2}>{words.title}</Title>
        <Text>{words.choose}</Text>
        <CodeExample title={words.address} code={origin} copyLabel={words.copyAddress} />
        <Text size="sm">
          {words.authorization}{' '}
          <Anchor component={Link} href="/profile" inherit underline="always">
            {words.createToken}
          </Anchor>
        </Text>
        <CodeExample title={words.example} code={example} copyLabel={words.copyExample} />
        {info.description && (
          <Text size="sm" c="dimmed" lang="en">
            <InlineCode>{info.description}</InlineCode>
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
