import { Button } from '@mantine/core';
import { texts } from '../../../texts';

interface Props {
  label: string;
  /** Of what it is about. Rows below each other have the same labels. */
  name: string;
  onClick: () => void;
}

export function FixButton({ label, name, onClick }: Props) {
  return (
    <Button
      variant="default"
      size="xs"
      maw={220}
      title={label}
      aria-label={texts.usage.fixes.of(label, name)}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}
