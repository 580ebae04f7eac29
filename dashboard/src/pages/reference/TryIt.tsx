import { Button, Group, Modal, Paper, PasswordInput, Stack, Text, Textarea, Title } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { ApiDocument } from '../../api/apiDocument';
import { CodeExample } from '../../shared/CodeExample';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';
import { AnswerView } from './AnswerView';
import { exampleOf, typeText } from './members';
import { answersSecret, changesSomething, type Operation } from './operations';
import { ParameterField } from './ParameterField';
import classes from './ReferencePage.module.css';
import { curl, type Draft, type Missing, missing, parameterKey, target } from './request';
import { type Result, send } from './send';

const words = texts.reference.tryIt;

interface Props {
  operation: Operation;
  document: ApiDocument;
}

/** A form that sends a request. Its input and the answer are kept only here: they may contain secrets. */
export function TryIt({ operation, document }: Props) {
  const { schemas, securitySchemes } = document.components;
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => ({
    parameters: {},
    body: operation.body ? JSON.stringify(exampleOf(operation.body, schemas), null, 2) : '',
    credentials: {},
  }));
  const [absent, setAbsent] = useState<Missing>();
  const [asking, setAsking] = useState(false);
  const [pending, setPending] = useState(false);
  const [result, setResult] = useState<Result | 'failed'>();

  function change(part: keyof Draft, name: string, value: string) {
    setAbsent(undefined);
    setDraft((old) =>
      part === 'body' ? { ...old, body: value } : { ...old, [part]: { ...old[part], [name]: value } },
    );
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    const what = missing(operation, draft);
    setAbsent(what);
    if (what) return;
    if (changesSomething(operation)) setAsking(true);
    else run();
  }

  async function run() {
    setAsking(false);
    setPending(true);
    setResult(undefined);
    try {
      const answer = await send(operation, draft, document);
      setResult(answer);
      // Other pages may show what has changed, or the session has ended.
      if (changesSomething(operation) || answer.status === 401)
        client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'api-document' });
    } catch {
      setResult('failed');
    } finally {
      setPending(false);
    }
  }

  const { method, parameters, body, schemes, takesSession } = operation;
  return (
    <Paper component="section" p="lg">
      <Stack gap="md">
        <div>
          <Title order={3}>{words.title}</Title>
          <Text size="sm" c="dimmed">
            {takesSession ? words.session : words.credentials}
          </Text>
        </div>
        <form onSubmit={submit} noValidate autoComplete="off">
          <Stack gap="md">
            {!takesSession && (
              <div className={classes.fields}>
                {schemes.map((scheme) => (
                  <PasswordInput
                    key={scheme}
                    label={schemeText(scheme)}
                    autoComplete="off"
                    value={draft.credentials[scheme] ?? ''}
                    onChange={(event) => change('credentials', scheme, event.currentTarget.value)}
                  />
                ))}
              </div>
            )}
            {parameters.length > 0 && (
              <div className={classes.fields}>
                {parameters.map((parameter) => (
                  <ParameterField
                    key={parameterKey(parameter)}
                    parameter={parameter}
                    type={typeText(parameter.schema ?? {}, schemas)}
                    isMissing={absent?.kind === 'parameter' && absent.name === parameterKey(parameter)}
                    value={draft.parameters[parameterKey(parameter)] ?? ''}
                    onChange={(value) => change('parameters', parameterKey(parameter), value)}
                  />
                ))}
              </div>
            )}
            {body && (
              <Textarea
                className={classes.json}
                label={words.body}
                rows={Math.min(14, draft.body.split('\n').length + 1)}
                spellCheck={false}
                error={absent?.kind === 'body' && words.notJson}
                value={draft.body}
                onChange={(event) => change('body', '', event.currentTarget.value)}
              />
            )}
            <CodeExample
              title={texts.reference.curl}
              code={curl(operation, draft, securitySchemes, window.location.origin)}
              copyLabel={texts.reference.copyCurl}
            />
            <Group>
              <Button type="submit" loading={pending} leftSection={<IconSend size={18} stroke={1.6} />}>
                {words.send}
              </Button>
            </Group>
          </Stack>
        </form>
        <div aria-live="polite">
          {result === 'failed' && <Text c="var(--mantine-color-error)">{words.failed}</Text>}
          {result && result !== 'failed' && (
            <AnswerView result={result} mayBeSecret={answersSecret(operation)} />
          )}
        </div>
      </Stack>
      <Modal opened={asking} onClose={() => setAsking(false)} title={words.confirmTitle}>
        <Stack>
          <Text className={classes.path}>
            {method} {target(operation, draft)}
          </Text>
          <Text>{words.confirm}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)} data-autofocus>
              {texts.common.cancel}
            </Button>
            <Button color={method === 'DELETE' ? 'red' : undefined} onClick={run}>
              {words.send}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Paper>
  );
}

function schemeText(scheme: string): string {
  return textOf(words.schemes, scheme) ?? scheme;
}
