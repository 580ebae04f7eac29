import { Badge, Tooltip } from '@mantine/core';
import { texts } from '../texts';

const words = texts.common.imported;

/** Marks a key that came from another service. Empty for others. */
export function ImportedBadge({ token }: { token: { imported?: boolean } }) {
  if (!token.imported) return null;
  return (
    <Tooltip label={words.hint} multiline maw={280}>
      <Badge miw="max-content" size="sm" tt="none" fw={600} bg="var(--km-info-tint)" c="var(--km-info)">
        {words.label}
      </Badge>
    </Tooltip>
  );
}
