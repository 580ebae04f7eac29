import classes from './ReferencePage.module.css';

/** The method of an operation. The colour only helps to find it. */
export function Method({ children }: { children: string }) {
  return (
    <span className={classes.method} data-method={children}>
      {children}
    </span>
  );
}
