import classes from './Name.module.css';

/** A name that somebody typed, which may be long and without a place to break: tables cut it, other places break it. */
export function Name({ children }: { children: string }) {
  return (
    <span className={classes.name} title={children}>
      {children}
    </span>
  );
}
