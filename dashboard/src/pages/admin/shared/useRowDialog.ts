import { useState } from 'react';
import { flushSync } from 'react-dom';

/** Which dialog is open for which row. The row stays while the dialog fades out. */
export function useRowDialog<Name extends string, Row>() {
  const [dialog, setDialog] = useState<Name>();
  const [row, setRow] = useState<Row>();
  return {
    dialog,
    row,
    open: (name: Name, of: Row) => {
      // A dialog notes what to give the focus back to when it opens, so it must be there before, closed.
      flushSync(() => setRow(of));
      setDialog(name);
    },
    close: () => setDialog(undefined),
  };
}
