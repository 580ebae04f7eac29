import { Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../../shared/CopyButton';
import { texts } from '../../../texts';
import classes from './VerifyExample.module.css';

const words = texts.adminGateways.dialog;

/** A first command for a new gateway. */
export function VerifyExample() {
  const command = `curl ${window.location.origin}/api/gateway/verify \\
  -H "Authorization: Bearer $GATEWAY" \\
  -d '{"key":"sk-…"}'`;
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{words.example}</Text>
        <CopyButton value={command} label={words.copyExample} />
      </Group>
      <Code block className={classes.command}>
        {command}
      </Code>
    </Stack>
  );
}
