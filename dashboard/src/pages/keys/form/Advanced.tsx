import type { ReactNode } from 'react';
import { formatList } from '../../../format/list';
import { texts } from '../../../texts';
import classes from './KeyForm.module.css';

interface Props {
  /** The labels of what is in it. */
  labels: string[];
  startsOpen: boolean;
  children: ReactNode;
}

/** Fields that few need. `useSendForm` opens it for a field with an error. */
export function Advanced({ labels, startsOpen, children }: Props) {
  return (
    <details open={startsOpen} className={classes.advanced}>
      <summary>
        {texts.keys.form.advanced}
        <span className={classes.labels}>{formatList(labels)}</span>
      </summary>
      {children}
    </details>
  );
}
