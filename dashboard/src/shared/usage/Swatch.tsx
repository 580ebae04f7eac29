import classes from './SplitChart.module.css';

/** The colour of a series. */
export function Swatch({ color }: { color: string }) {
  return <span className={classes.swatch} style={{ background: color }} />;
}
