import { Group, Paper, Skeleton, Stack } from '@mantine/core';
import classes from './Skeletons.module.css';

const EIGHT = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const FOUR = EIGHT.slice(0, 4);

/** Where the fields above a list or a report will be. */
function Fields() {
  return (
    <Group gap="sm" mb="md">
      {FOUR.slice(1).map((field) => (
        <Skeleton key={field} h={36} w={200} />
      ))}
    </Group>
  );
}

/** In the shape of a list, with its fields. */
export function ListSkeleton() {
  return (
    <div className={classes.list} aria-hidden>
      <Fields />
      <Paper className={classes.rows}>
        {EIGHT.map((row) => (
          <div key={row} className={classes.row}>
            {FOUR.map((cell) => (
              <Skeleton key={cell} h={16} />
            ))}
          </div>
        ))}
      </Paper>
    </div>
  );
}

function Chart() {
  return (
    <Paper p="lg">
      <Stack gap="lg">
        <Skeleton h={28} w={120} />
        <Skeleton h={264} />
      </Stack>
    </Paper>
  );
}

/** In the shape of a report by day, with its fields. */
export function ReportSkeleton() {
  return (
    <div aria-hidden>
      <Fields />
      <Chart />
    </div>
  );
}

/** In the shape of the page of one thing: what is known of it, and what it spent. */
export function DetailsSkeleton() {
  return (
    <Stack gap="lg" aria-hidden>
      <Paper p="lg" className={classes.facts}>
        {EIGHT.map((fact) => (
          <Stack key={fact} gap={8}>
            <Skeleton h={12} w="50%" />
            <Skeleton h={16} w="80%" />
          </Stack>
        ))}
      </Paper>
      <Chart />
    </Stack>
  );
}

/** In the shape of a page of tiles. */
export function TilesSkeleton() {
  return (
    <Stack gap="md" aria-hidden>
      <div className={classes.tiles}>
        {FOUR.slice(1).map((tile) => (
          <Skeleton key={tile} h={132} radius="lg" />
        ))}
      </div>
      <Skeleton h={340} radius="lg" />
    </Stack>
  );
}
