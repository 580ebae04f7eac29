import { useState } from 'react';
import { flushSync } from 'react-dom';

/** Which dialog is open for which row of a list. The row stays defined while the dialog closes. */
export function useRowDialog<Name extends string, Row>() {
  const [dialog, setDialog] = useState<Name>();
  const [row, setRow] = useState<Row>();
  return {
    dialog,
    row,
    open: (name: Name, of: Row) => {
      // A dialog remembers the focused element when it changes to open, so it must be mounted closed first.
      flushSync(() => setRow(of));
      setDialog(name);
    },
    close: () => setDialog(undefined),
  };
}
