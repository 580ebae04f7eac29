import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { EmptyState } from '../../shared/EmptyState';
import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

export function NotFoundPage() {
  const { title, hint, home } = texts.shell.notFound;
  return (
    <>
      <PageHeader title={title} />
      <EmptyState
        title={hint}
        action={
          <Button component={Link} href="/">
            {home}
          </Button>
        }
      />
    </>
  );
}
