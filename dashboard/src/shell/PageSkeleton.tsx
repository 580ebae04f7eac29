import { Skeleton, Stack } from '@mantine/core';

export function PageSkeleton() {
  return (
    <Stack gap="lg" aria-hidden>
      <Skeleton h={34} w={180} />
      <Skeleton h={280} radius="lg" />
    </Stack>
  );
}
