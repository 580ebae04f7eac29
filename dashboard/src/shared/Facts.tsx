import type { ReactNode } from 'react';
import classes from './Facts.module.css';

/** Names and values in columns. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <div className={classes.around}>
      <dl className={classes.facts}>{children}</dl>
    </div>
  );
}

interface FactProps {
  name: string;
  /** The width, if it is more than a column. */
  span?: 'whole' | 'half';
  children: ReactNode;
}

export function Fact({ name, span, children }: FactProps) {
  return (
    <div className={span && classes[span]}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
