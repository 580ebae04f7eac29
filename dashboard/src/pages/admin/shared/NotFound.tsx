import { Button, Group, Paper } from '@mantine/core';
import type { ComponentProps } from 'react';
import { Link } from 'wouter';
import { EmptyState } from '../../../shared/EmptyState';
import { PageHeader } from '../../../shared/PageHeader';

interface Props {
  /** The title of the page. */
  title: string;
  icon: ComponentProps<typeof EmptyState>['icon'];
  heading: string;
  hint: string;
  links: { href: string; label: string }[];
}

/** The page of something that does not exist, or does not exist any more. */
export function NotFound({ title, icon, heading, hint, links }: Props) {
  const buttons = links.map(({ href, label }) => (
    <Button key={href} component={Link} href={href} variant="default">
      {label}
    </Button>
  ));
  return (
    <>
      <PageHeader title={title} />
      <Paper>
        <EmptyState icon={icon} title={heading} hint={hint} action={<Group>{buttons}</Group>} />
      </Paper>
    </>
  );
}
