import { Anchor, Paper, Skeleton, Table } from '@mantine/core';
import {
  IconBan,
  IconCircleCheck,
  IconCircleDashedCheck,
  IconCircleHalf2,
  IconCircleX,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isKnown, type PastRequest, type Refusal } from '../../api/requestHistory';
import type { UsageScope } from '../../api/usageReports';
import { formatInteger } from '../../format/locale';
import { dateOf, formatMinute, formatSecond, zoneName } from '../../format/time';
import { texts } from '../../texts';
import { Boundary } from '../Boundary';
import { FailureState } from '../FailureState';
import { Money } from '../Money';
import { useNow } from '../useNow';
import { useRowLink } from '../useRowLink';
import classes from './RequestTable.module.css';
import { cureText, refusalDetails, refusalTitle } from './refusalText';
import { requestStatus } from './requestStatus';

const words = texts.usage.requestHistory;
const SKELETONS = ['a', 'b', 'c', 'd', 'e'];

interface Props {
  label: string;
  scope: UsageScope;
  /** All are of one key, so no row names it. */
  isOfOneKey?: boolean;
  /** Absent while loading. */
  rows: PastRequest[] | undefined;
  /** The address at which everything known of a request is shown. */
  hrefOf: (id: string) => string;
  /** Why the rows did not load, if they did not. Older rows are shown nevertheless. */
  error: Error | null;
  onRetry: () => void;
  /** Shown if there are no rows. */
  empty: ReactNode;
}

/** Requests with one line each at every width. What does not fit is cut, or left to the details that a row opens. */
export function RequestTable({
  label,
  scope,
  isOfOneKey = false,
  rows,
  hrefOf,
  error,
  onRetry,
  empty,
}: Props) {
  const linkTo = useRowLink();
  const now = useNow();
  if (error && !rows) {
    return (
      <Paper>
        <FailureState error={error} onRetry={onRetry} />
      </Paper>
    );
  }
  if (rows?.length === 0) return <Paper p={0}>{empty}</Paper>;
  const columns = [
    ['status', words.outcome],
    ['time', words.timeIn(zoneName(now))],
    ...(isOfOneKey ? [] : [['key', texts.usage.key] as const]),
    ['model', texts.usage.model],
    ['tokens', texts.usage.tokens],
    ['cost', words.cost],
  ] as const;
  return (
    <Paper p={0} className={classes.around}>
      <Table aria-label={label} aria-busy={!rows} highlightOnHover className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(([name, header]) => (
              <Table.Th key={name} scope="col" className={classes[name]}>
                <span className={classes.text}>{header}</span>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows
            ? rows.map((row) => (
                <Table.Tr key={row.id} className={classes.row} {...linkTo(hrefOf(row.id))}>
                  <Table.Td className={classes.status}>
                    <Boundary data={row} draw={statusCell} />
                  </Table.Td>
                  <Table.Td className={classes.time}>
                    <Anchor component={Link} href={hrefOf(row.id)} inherit>
                      <Time at={row.at} now={now} />
                    </Anchor>
                  </Table.Td>
                  {!isOfOneKey && <Table.Td className={classes.key}>{keyText(row, scope)}</Table.Td>}
                  <Table.Td className={classes.model}>{row.model || texts.usage.noModel}</Table.Td>
                  {row.refusal ? (
                    <Table.Td colSpan={2} className={classes.refusal}>
                      <Boundary data={row.refusal} draw={refusalCell} />
                    </Table.Td>
                  ) : (
                    <>
                      <Table.Td className={classes.tokens}>
                        {words.inAndOut(
                          formatInteger(row.prompt_tokens),
                          formatInteger(row.completion_tokens),
                        )}
                      </Table.Td>
                      <Table.Td className={classes.cost}>
                        <Money units={row.quota} fine fw={600} />
                      </Table.Td>
                    </>
                  )}
                </Table.Tr>
              ))
            : SKELETONS.map((skeleton) => (
                <Table.Tr key={skeleton}>
                  {columns.map(([name]) => (
                    <Table.Td key={name} className={classes[name]}>
                      <Skeleton h={16} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

const icons = {
  off: IconCircleCheck,
  warn: IconCircleHalf2,
  bad: IconCircleX,
  ok: IconCircleDashedCheck,
  info: IconBan,
};

function statusCell(row: PastRequest) {
  const { text, tone } = requestStatus(row);
  const Icon = icons[tone];
  return (
    <span className={classes.mark} style={{ color: `var(--km-${tone})` }} title={text}>
      <Icon size={18} stroke={1.8} />
      <span className={classes.text}>{text}</span>
    </span>
  );
}

/** To the second, or to the minute where the table is narrow. The zone is in the header, unless it was another one then. */
function Time({ at, now }: { at: number; now: number }) {
  const zone = zoneName(at) === zoneName(now) ? '' : ` ${zoneName(at)}`;
  return (
    <time dateTime={dateOf(at)?.toISOString()} className="tabular">
      <span className={classes.second}>{formatSecond(at, now)}</span>
      <span className={classes.minute}>{formatMinute(at, now)}</span>
      {zone}
    </time>
  );
}

function keyText(row: PastRequest, scope: UsageScope): string {
  if (!isKnown(row)) return texts.usage.refused.reasons.invalid_key;
  return scope === 'own' ? row.token_name : words.keyOf(row.token_name, row.username);
}

function refusalCell(refusal: Refusal) {
  return <RefusalLine refusal={refusal} />;
}

/** Why it was refused, and whether it would pass now. */
function RefusalLine({ refusal }: { refusal: Refusal }) {
  const now = useNow();
  const { cured } = refusal;
  const details = cured ? '' : refusalDetails(refusal, now);
  return (
    <>
      {cured && (
        <>
          <strong className={classes.cured}>{cureText(cured, now)}</strong>
          {' · '}
        </>
      )}
      <strong className={cured ? undefined : classes.bad}>{refusalTitle(refusal)}</strong>
      {details && (
        <>
          {' · '}
          <span className={classes.details}>{details}</span>
        </>
      )}
    </>
  );
}
