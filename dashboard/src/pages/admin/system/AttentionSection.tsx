import { Paper, Text, Title } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import attention from '../../../shared/Attention.module.css';
import { NothingToDo } from '../../../shared/NothingToDo';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { type Attention, attentionOf } from './attention';
import classes from './SystemPage.module.css';

const words = texts.adminSystem.attention;

/** What an operator has to do, or that there is nothing. */
export function AttentionSection({ system }: { system: System }) {
  const rows = attentionOf(system);
  const { title } = texts.overview.attention;
  return (
    <Paper component="section" p="lg" aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {rows.length === 0 ? (
        <NothingToDo hint={words.noneHint} />
      ) : (
        <ul className={attention.keys}>
          {rows.map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </ul>
      )}
    </Paper>
  );
}

function Row({ row: { tone, title, hint, values } }: { row: Attention }) {
  return (
    <li className={attention.key}>
      <div className={attention.words}>
        <div>
          <div className={attention.name}>{title}</div>
          <Text size="sm" c="dimmed" className={classes.hint}>
            {hint}
          </Text>
          {values && (
            <dl className={classes.values}>
              {values.map(({ key, name, value }) => (
                <div key={key}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          )}
        </div>
        <ToneBadge tone={tone}>{tone === 'bad' ? words.badges.now : words.badges.soon}</ToneBadge>
      </div>
    </li>
  );
}
