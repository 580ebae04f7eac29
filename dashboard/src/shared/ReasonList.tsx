import { List, Text } from '@mantine/core';
import { useScrollRegion } from './useScrollRegion';

const MAX_HEIGHT = '30vh';

interface Props {
  label: string;
  /** Sentences. The same one is shown once. */
  reasons: string[];
}

/** Why something was not changed. A long list scrolls. */
export function ReasonList({ label, reasons }: Props) {
  const region = useScrollRegion(label);
  return (
    <div role="alert">
      <Text c="var(--mantine-color-error)" mb="xs">
        {label}
      </Text>
      <div {...region} style={{ ...region.style, maxHeight: MAX_HEIGHT }}>
        <List size="sm" style={{ overflowWrap: 'anywhere' }}>
          {[...new Set(reasons)].map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      </div>
    </div>
  );
}
