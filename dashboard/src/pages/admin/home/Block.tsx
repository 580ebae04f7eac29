import { Button, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Boundary } from '../../../shared/Boundary';
import { FailureMessage } from '../../../shared/FailureMessage';
import { texts } from '../../../texts';
import { SectionHeader } from '../shared/SectionHeader';

const SKELETONS = ['a', 'b', 'c', 'd', 'e'];

interface Props<Data> {
  title: string;
  /** The full list. */
  href?: string;
  linkLabel?: string;
  /** Absent while loading. */
  data: Data | undefined;
  error: Error | null;
  onRetry: () => void;
  /** How many rows to expect. */
  rows?: number;
  className?: string;
  children: (data: Data) => ReactNode;
}

/** A part of the administrators' home, which loads on its own. */
export function Block<Data>(props: Props<Data>) {
  const {
    title,
    href,
    linkLabel,
    data,
    error,
    onRetry,
    rows = SKELETONS.length,
    className,
    children,
  } = props;
  const isFailed = data === undefined && error !== null;
  return (
    <Paper
      component="section"
      aria-label={title}
      p="lg"
      className={className}
      aria-busy={data === undefined && !isFailed}
    >
      <SectionHeader title={title} href={href} label={linkLabel} />
      {data !== undefined ? (
        <Boundary data={data} draw={children} />
      ) : isFailed ? (
        <Stack role="alert" align="flex-start" gap="sm">
          <div>
            <Text>{texts.common.failure.title}</Text>
            <Text c="dimmed">
              <FailureMessage error={error} />
            </Text>
          </div>
          <Button variant="default" size="xs" onClick={onRetry}>
            {texts.common.retry}
          </Button>
        </Stack>
      ) : (
        <Stack gap="sm">
          {SKELETONS.slice(0, rows).map((skeleton) => (
            <Skeleton key={skeleton} h={40} />
          ))}
        </Stack>
      )}
    </Paper>
  );
}

/** Shown if a list of a block has no rows. */
export function NoRows({ children }: { children: ReactNode }) {
  return <Text c="dimmed">{children}</Text>;
}
