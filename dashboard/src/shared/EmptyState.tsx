import { Center, Stack, Text } from '@mantine/core';
import type { ComponentType, ReactNode } from 'react';

interface Props {
  icon?: ComponentType<{ size?: number; stroke?: number; color?: string }>;
  title: string;
  hint?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, hint, action }: Props) {
  return (
    <Center py={56} px="md">
      <Stack align="center" gap="sm" miw={0} maw={420} ta="center">
        {Icon && <Icon size={40} stroke={1.3} color="var(--km-accent)" />}
        <Text fw={600}>{title}</Text>
        {hint && <Text c="dimmed">{hint}</Text>}
        {action}
      </Stack>
    </Center>
  );
}
