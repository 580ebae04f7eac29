import type { ReactNode } from 'react';
import { type AuditLine, useAuditLog } from '../../../api/adminAudit';
import { listHref } from '../../../shared/listQuery';
import { useNow } from '../../../shared/useNow';
import { Block } from './Block';
import classes from './HomePage.module.css';

const ROWS = 5;
const DAYS = 30;
const DAY_SECONDS = 86_400;

type Props = {
  action: string;
  title: string;
  all: string;
  /** A list item. */
  children: (line: AuditLine) => ReactNode;
};

/** The newest lines of the audit log about an action, of 30 days. Shown only if there are any. */
export function RecentAuditLines({ action, title, all, children }: Props) {
  const filter = { action };
  const { data, error, refetch } = useAuditLog(filter, 0, ROWS);
  const now = useNow();
  const recent = data?.items.filter(({ at }) => at > now - DAYS * DAY_SECONDS);
  if (error === null && !recent?.length) return null;
  return (
    <Block
      title={title}
      href={listHref('/admin/audit', filter)}
      linkLabel={all}
      data={recent}
      error={recent ? null : error}
      onRetry={refetch}
      rows={1}
      className={classes.all}
    >
      {(lines) => <ul className={classes.rows}>{lines.map(children)}</ul>}
    </Block>
  );
}
