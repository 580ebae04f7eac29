import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'ok' | 'off' | 'warn' | 'bad' | 'info';

/** A coloured status label. The text alone carries the meaning. */
export function ToneBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge
      miw="max-content"
      tt="none"
      fw={600}
      size="lg"
      fz={13}
      bg={`var(--km-${tone}-tint)`}
      c={`var(--km-${tone})`}
    >
      {children}
    </Badge>
  );
}
