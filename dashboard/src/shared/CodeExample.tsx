import { Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from './CopyButton';
import { useScrollRegion } from './useScrollRegion';

interface Props {
  title: string;
  code: string;
  copyLabel: string;
}

/** A command with a copy button. */
export function CodeExample({ title, code, copyLabel }: Props) {
  const scrollRegion = useScrollRegion<HTMLPreElement>(title);
  return (
    <Stack gap={4}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <CopyButton value={code} label={copyLabel} />
      </Group>
      <Code block fz="xs" {...scrollRegion}>
        {code}
      </Code>
    </Stack>
  );
}
