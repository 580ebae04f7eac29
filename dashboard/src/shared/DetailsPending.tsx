import { Paper, Skeleton } from '@mantine/core';
import { FailureState } from './FailureState';
import { PageHeader } from './PageHeader';

interface Props {
  title: string;
  back: { href: string; label: string };
  error: Error | null;
  onRetry: () => void;
}

/** The page of one thing while it is loading, and after a failure. */
export function DetailsPending({ title, back, error, onRetry }: Props) {
  return (
    <>
      <PageHeader title={title} back={back} />
      {error ? (
        <Paper>
          <FailureState error={error} onRetry={onRetry} />
        </Paper>
      ) : (
        <Skeleton h={320} radius="lg" />
      )}
    </>
  );
}
