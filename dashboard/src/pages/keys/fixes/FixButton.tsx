import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { texts } from '../../../texts';

interface Props {
  label: string;
  /** Of what it is about. Rows below each other have the same labels. */
  name: string;
}

const look = { variant: 'default', size: 'xs', maw: 220 } as const;

export function FixButton({ label, name, onClick }: Props & { onClick: () => void }) {
  return (
    <Button {...look} title={label} aria-label={texts.usage.fixes.of(label, name)} onClick={onClick}>
      {label}
    </Button>
  );
}

/** A fix on another page. */
export function FixLink({ label, name, href }: Props & { href: string }) {
  return (
    <Button
      {...look}
      component={Link}
      href={href}
      title={label}
      aria-label={texts.usage.fixes.of(label, name)}
    >
      {label}
    </Button>
  );
}
