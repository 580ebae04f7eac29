import { Table } from '@mantine/core';
import type { DayUsage } from '../../api/dailyUsage';
import { formatDate } from '../../format/calendar';
import { formatCompact } from '../../format/compact';
import { formatInteger } from '../../format/locale';
import { newestFirst, unitsOf } from '../../format/usage';
import { Money } from '../../shared/Money';
import { useScrollRegion } from '../../shared/useScrollRegion';
import { texts } from '../../texts';
import classes from './OverviewPage.module.css';

const { title, columns } = texts.overview.spend;

export function SpendTable({ daily }: { daily: DayUsage[] }) {
  const scrollRegion = useScrollRegion(title);
  const days = newestFirst(daily);
  return (
    <div {...scrollRegion}>
      <Table aria-label={title} fz="sm" verticalSpacing={5} horizontalSpacing={6} className="tabular">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{columns.day}</Table.Th>
            <Table.Th ta="right">{columns.usd}</Table.Th>
            <Table.Th ta="right">{columns.requests}</Table.Th>
            <Table.Th ta="right" hiddenFrom="xs">
              {columns.tokens}
            </Table.Th>
            <Table.Th ta="right" visibleFrom="xs">
              {columns.input}
            </Table.Th>
            <Table.Th ta="right" visibleFrom="xs">
              {columns.output}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.map((day) => (
            <Table.Tr key={day.date}>
              <Table.Th scope="row" fw={500} className={classes.day}>
                {formatDate(day.date)}
              </Table.Th>
              <Table.Td ta="right">
                <Money units={unitsOf(day.usd)} />
              </Table.Td>
              <Table.Td ta="right">{formatInteger(day.requests)}</Table.Td>
              <Table.Td ta="right" hiddenFrom="xs">
                {formatCompact(day.prompt_tokens + day.completion_tokens)}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="xs">
                {formatInteger(day.prompt_tokens)}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="xs">
                {formatInteger(day.completion_tokens)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
