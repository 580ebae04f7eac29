import { Code, Paper, Text, Title } from '@mantine/core';
import type { ApiDocument } from '../../api/apiDocument';
import { ToneBadge } from '../../shared/ToneBadge';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';
import { InlineCode } from './InlineCode';
import { Members } from './Members';
import { membersOf, typeText } from './members';
import type { Operation } from './operations';
import classes from './ReferencePage.module.css';

const words = texts.reference;

interface Props {
  answers: Operation['answers'];
  schemas: ApiDocument['components']['schemas'];
}

/** The answers by status: the members of a success, and the codes of failures with their meaning. */
export function Answers({ answers, schemas }: Props) {
  return (
    <Paper component="section" p="lg">
      <Title order={3} mb="xs">
        {words.answers}
      </Title>
      {answers.map(({ status, description, codes, content, headers }) => (
        <details key={status} className={classes.answer}>
          <summary>
            <ToneBadge tone={status < '400' ? 'ok' : status < '500' ? 'warn' : 'bad'}>{status}</ToneBadge>{' '}
            <Text span size="sm" c="dimmed" className={classes.path}>
              {codes.length > 0 ? codes.join(', ') : content.map(([type]) => type).join(', ')}
            </Text>
          </summary>
          {codes.length === 0 && description && (
            <Text size="sm" mt="xs" lang="en">
              <InlineCode>{description}</InlineCode>
            </Text>
          )}
          {codes.length > 0 && (
            <ul className={classes.codes}>
              {codes.map((code) => (
                <li key={code}>
                  <Code>{code}</Code> {meaning(code)}
                </li>
              ))}
            </ul>
          )}
          {headers.map(([name, text]) => (
            <Text key={name} size="sm" mt="xs">
              {words.header(name)}: <InlineCode>{text}</InlineCode>
            </Text>
          ))}
          {codes.length === 0 &&
            content.map(([type, schema]) => (
              <div key={type}>
                <Text size="sm" mt="xs" c="dimmed">
                  {type} {schema && <span className={classes.type}>{typeText(schema, schemas)}</span>}
                </Text>
                {schema && <Members members={membersOf(schema, schemas)} inAnswer />}
              </div>
            ))}
        </details>
      ))}
    </Paper>
  );
}

/** The text that people see for this code; empty if it is newer than this dashboard. */
function meaning(code: string): string {
  return textOf(texts.errors, code) ?? '';
}
