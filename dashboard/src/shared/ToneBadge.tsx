import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'ok' | 'off' | 'warn' | 'bad' | 'info';

/** A state in a word on its tint. The word says it; the colour only helps. */
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
