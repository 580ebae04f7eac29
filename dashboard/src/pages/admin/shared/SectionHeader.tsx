import { Anchor, Title } from '@mantine/core';
import { Link } from 'wouter';
import classes from './SectionHeader.module.css';

interface Props {
  title: string;
  /** The full list. */
  href?: string;
  label?: string;
}

/** The title of a section, with a link to the full list. */
export function SectionHeader({ title, href, label }: Props) {
  return (
    <div className={classes.header}>
      <Title order={2}>{title}</Title>
      {href && (
        <Anchor component={Link} href={href} size="sm">
          {label}
        </Anchor>
      )}
    </div>
  );
}
