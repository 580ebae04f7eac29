import { Table, Text } from '@mantine/core';
import { formatChange } from '../../../format/money';
import { Money } from '../../../shared/Money';
import { useScrollRegion } from '../../../shared/useScrollRegion';
import { texts } from '../../../texts';
import classes from './ImportsPage.module.css';
import type { Sum } from './report';

const words = texts.adminImports.sums;

/** The sums on both sides, and by how much they differ. */
export function SumsTable({ sums }: { sums: Sum[] }) {
  const scrollRegion = useScrollRegion(words.title);
  return (
    <div {...scrollRegion}>
      <Table aria-label={words.title} verticalSpacing={8} className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            <Table.Th scope="col" ta="right">
              {words.there}
            </Table.Th>
            <Table.Th scope="col" ta="right">
              {words.here}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sums.map(({ name, there, here }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{words.rows[name]}</Table.Th>
              <Table.Td ta="right">
                <Money units={there} />
              </Table.Td>
              <Table.Td ta="right">
                <Money units={here} />
                {here !== there && (
                  <Text size="xs" c="dimmed">
                    {formatChange(here - there)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
