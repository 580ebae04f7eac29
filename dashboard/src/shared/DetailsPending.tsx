import { Paper } from '@mantine/core';
import { FailureState } from './FailureState';
import { PageHeader } from './PageHeader';
import { DetailsSkeleton } from './Skeletons';

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
        <DetailsSkeleton />
      )}
    </>
  );
}
