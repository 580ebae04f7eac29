import { Kbd } from '@mantine/core';
import classes from './Keys.module.css';

/** Keys that are pressed together. */
export function Keys({ keys }: { keys: string[] }) {
  return (
    <span className={classes.keys}>
      {keys.map((key) => (
        <Kbd key={key} size="xs">
          {key}
        </Kbd>
      ))}
    </span>
  );
}
