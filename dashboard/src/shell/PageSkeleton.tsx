import { Skeleton, Stack } from '@mantine/core';
import { DetailsSkeleton, ListSkeleton, ReportSkeleton, TilesSkeleton } from '../shared/Skeletons';

const shapes = {
  list: ListSkeleton,
  details: DetailsSkeleton,
  report: ReportSkeleton,
  tiles: TilesSkeleton,
};

export type PageShape = keyof typeof shapes;

/** A page while its file is loading. */
export function PageSkeleton({ shape = 'list' }: { shape?: PageShape }) {
  const Content = shapes[shape];
  return (
    <Stack gap="lg" aria-hidden>
      <div>
        <Skeleton h={33} w={180} />
        <Skeleton h={16} w="min(100%, 24rem)" mt={10} />
      </div>
      <Content />
    </Stack>
  );
}
