import { Text } from '@mantine/core';
import { formatInteger } from '../../../format/locale';
import { Money } from '../../../shared/Money';
import { texts } from '../../../texts';
import classes from './ImportsPage.module.css';
import type { Finding, FindingRow } from './report';

const words = texts.adminImports.changed;

/** What was changed or left out for one reason. Its rows are hidden at first. */
export function FindingItem({ finding: { text, count, amount, rows } }: { finding: Finding }) {
  return (
    <li className={classes.finding}>
      <span className={classes.count}>{formatInteger(count)}</span>{' '}
      <div className={classes.words}>
        {text}
        {amount !== undefined && (
          <Text span inherit c="dimmed">
            {' '}
            <Money units={amount} /> {words.inAll}
          </Text>
        )}
        {rows.length > 0 && (
          <details className={classes.rows}>
            <summary>{words.rows(rows.length, count)}</summary>
            <ul>
              {rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the rows never change
                <li key={index}>
                  <RowText row={row} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}

function RowText({ row: { subject, detail, units } }: { row: FindingRow }) {
  const isAlone = units === undefined && detail === '';
  return (
    <>
      {subject !== '' && (isAlone ? subject : words.row(subject))}
      {units !== undefined && <Money units={units} />}
      {units !== undefined && detail !== '' && ' · '}
      {detail}
    </>
  );
}
