import { Table, Text } from '@mantine/core';
import type { DayUsage } from '../../api/dailyUsage';
import { formatDate } from '../../format/calendar';
import { formatInteger } from '../../format/locale';
import { formatUsd, roundingGap } from '../../format/money';
import { newestFirst, type Totals, totalsOf, unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import { Money } from '../Money';
import { useScrollRegion } from '../useScrollRegion';
import classes from './UsageTable.module.css';

const words = texts.key.usage;

/** The newest day comes first, because people look for it. The total stays in view when the days scroll. */
export function UsageTable({ daily }: { daily: DayUsage[] }) {
  const scrollRegion = useScrollRegion(words.table);
  const days = newestFirst(daily);
  const gap = roundingGap(days.map(({ usd }) => unitsOf(usd)));
  return (
    <div>
      <div {...scrollRegion} style={{ ...scrollRegion.style, maxHeight: '30rem' }} className={classes.region}>
        <Table aria-label={words.table} verticalSpacing={8} className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{words.date}</Table.Th>
              <Table.Th scope="col" ta="right">
                {words.usd}
              </Table.Th>
              <Table.Th scope="col" ta="right">
                {words.requests}
              </Table.Th>
              <Table.Th scope="col" ta="right">
                {words.promptTokens}
              </Table.Th>
              <Table.Th scope="col" ta="right">
                {words.completionTokens}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {days.map((day) => (
              <Figures key={day.date} name={formatDate(day.date)} figures={totalsOf([day])} />
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Figures name={words.total} figures={totalsOf(daily)} />
          </Table.Tfoot>
        </Table>
      </div>
      {gap !== 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {texts.usage.rounding(formatUsd(Math.abs(gap)), gap > 0)}
        </Text>
      )}
    </div>
  );
}

interface FiguresProps {
  name: string;
  figures: Totals;
}

function Figures({ name, figures }: FiguresProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row">{name}</Table.Th>
      <Table.Td ta="right">
        <Money units={figures.units} />
      </Table.Td>
      <Table.Td ta="right">{formatInteger(figures.requests)}</Table.Td>
      <Table.Td ta="right">{formatInteger(figures.promptTokens)}</Table.Td>
      <Table.Td ta="right">{formatInteger(figures.completionTokens)}</Table.Td>
    </Table.Tr>
  );
}
