import { Button, Paper } from '@mantine/core';
import { IconKeyOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import { EmptyState } from '../../shared/EmptyState';
import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

const words = texts.key;

export function KeyNotFound() {
  const toKeys = (
    <Button component={Link} href="/keys" variant="default">
      {words.toKeys}
    </Button>
  );
  return (
    <>
      <PageHeader title={words.title} />
      <Paper>
        <EmptyState icon={IconKeyOff} title={words.notFoundTitle} hint={words.notFound} action={toKeys} />
      </Paper>
    </>
  );
}
