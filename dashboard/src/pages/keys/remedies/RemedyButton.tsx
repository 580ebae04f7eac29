import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { texts } from '../../../texts';

interface Props {
  label: string;
  /** Of what it is about. Rows below each other have the same labels. */
  name: string;
}

const look = { variant: 'default', size: 'xs', maw: 220 } as const;

export function RemedyButton({ label, name, onClick }: Props & { onClick: () => void }) {
  return (
    <Button {...look} title={label} aria-label={texts.usage.remedies.of(label, name)} onClick={onClick}>
      {label}
    </Button>
  );
}

/** A remedy on another page. */
export function RemedyLink({ label, name, href }: Props & { href: string }) {
  return (
    <Button
      {...look}
      component={Link}
      href={href}
      title={label}
      aria-label={texts.usage.remedies.of(label, name)}
    >
      {label}
    </Button>
  );
}
