import { Anchor, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { DayUsage } from '../../api/dailyUsage';
import { formatInteger } from '../../format/locale';
import { formatUsd } from '../../format/money';
import { type Totals, totalsOf, unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import { barName } from '../chart/barName';
import { Money } from '../Money';
import { useScrollRegion } from '../useScrollRegion';
import { tableGap } from './rounding';
import { Swatch } from './Swatch';
import type { NamedSeries } from './series';
import classes from './UsageTable.module.css';

const words = texts.key.usage;

interface Props {
  daily: DayUsage[];
  /** A column each, after the total of the day. */
  series: NamedSeries[];
  /** The rows are the hours of this zone. Absent for days. */
  zone: string | undefined;
  /** The page of what a day or hour is made of. */
  hrefOf: (date: string) => string;
}

/** The newest day or hour comes first, because people look for it. The total stays in view when the rows scroll. */
export function UsageTable({ daily, series, zone, hrefOf }: Props) {
  const label = zone === undefined ? words.table : words.tableByHour;
  const scrollRegion = useScrollRegion(label);
  const rows = daily.map((day, index) => ({ day, parts: series.map(({ units }) => units[index] ?? 0) }));
  const gap = tableGap(
    daily.map(({ usd }) => unitsOf(usd)),
    series.map(({ units }) => units),
  );
  return (
    <div>
      <div {...scrollRegion} style={{ ...scrollRegion.style, maxHeight: '30rem' }} className={classes.region}>
        <Table aria-label={label} verticalSpacing={8} className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{zone === undefined ? words.date : words.hour}</Table.Th>
              <Header>{series.length > 0 ? words.total : words.usd}</Header>
              {series.map(({ key, name, color }) => (
                <Header key={key}>
                  <span className={classes.series} title={name}>
                    <Swatch color={color} /> <span className={classes.name}>{name}</span>
                  </span>
                </Header>
              ))}
              <Header>{words.requests}</Header>
              <Header>{words.promptTokens}</Header>
              <Header>{words.completionTokens}</Header>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.toReversed().map(({ day, parts }) => (
              <Figures
                key={day.date}
                name={
                  <Anchor component={Link} href={hrefOf(day.date)} inherit>
                    {barName(day.date, zone)}
                  </Anchor>
                }
                figures={totalsOf([day])}
                parts={parts}
              />
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Figures name={words.total} figures={totalsOf(daily)} parts={series.map(({ total }) => total)} />
          </Table.Tfoot>
        </Table>
      </div>
      {gap > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {texts.usage.rounding(formatUsd(gap))}
        </Text>
      )}
    </div>
  );
}

function Header({ children }: { children: ReactNode }) {
  return (
    <Table.Th scope="col" ta="right">
      {children}
    </Table.Th>
  );
}

interface FiguresProps {
  name: ReactNode;
  figures: Totals;
  /** The amounts of the series. */
  parts: number[];
}

function Figures({ name, figures, parts }: FiguresProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row">{name}</Table.Th>
      <Table.Td ta="right">
        <Money units={figures.units} fw={parts.length > 0 ? 600 : undefined} />
      </Table.Td>
      {parts.map((units, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns have an order and nothing else
        <Table.Td key={index} ta="right">
          <Money units={units} />
        </Table.Td>
      ))}
      <Table.Td ta="right">{formatInteger(figures.requests)}</Table.Td>
      <Table.Td ta="right">{formatInteger(figures.promptTokens)}</Table.Td>
      <Table.Td ta="right">{formatInteger(figures.completionTokens)}</Table.Td>
    </Table.Tr>
  );
}
