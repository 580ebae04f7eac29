import { Alert, Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import type { Token } from '../../../api/tokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { texts } from '../../../texts';
import { type Draft, draftOf, emptyDraft } from './draft';
import { ExpiryFields } from './ExpiryFields';
import { GroupFields } from './GroupFields';
import { IpField } from './IpField';
import classes from './KeyForm.module.css';
import { ModelFields } from './ModelFields';
import { mistakesOf } from './mistakes';
import { NameField } from './NameField';
import { QuotaFields } from './QuotaFields';
import { useSaveKey } from './useSaveKey';

interface Props {
  token: Token | undefined;
  onTouched: () => void;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

const words = texts.keys.form;

export function KeyForm({ token, onTouched, onCreated, onClose }: Props) {
  // Charges go on while somebody types: changes are those against the token as it was at the beginning.
  const [before] = useState(token);
  const [draft, setDraft] = useState(() => (before ? draftOf(before) : emptyDraft));
  const [attempted, setAttempted] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { save, isPending, error } = useSaveKey({ token: before, onCreated, onClose });
  const mistakes = attempted ? mistakesOf(draft) : {};

  function change(changes: Partial<Draft>) {
    setDraft((current) => ({ ...current, ...changes }));
    onTouched();
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    setAttempted(true);
    const [first] = Object.keys(mistakesOf(draft));
    if (first) form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
    else save(draft);
  }

  const fields = { draft, mistakes, onChange: change };
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack gap="lg">
        <NameField {...fields} />
        <QuotaFields {...fields} usedBefore={before?.used_quota ?? 0} />
        <ExpiryFields {...fields} />
        <GroupFields {...fields} />
        <ModelFields {...fields} />
        <IpField {...fields} />
      </Stack>
      <div className={classes.footer}>
        {error && (
          <Alert color="red" title={words.refused} mb="md">
            <FailureMessage error={error} />
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.common.cancel}
          </Button>
          <Button type="submit" loading={isPending}>
            {before ? words.save : words.create}
          </Button>
        </Group>
      </div>
    </form>
  );
}
