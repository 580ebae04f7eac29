import { Alert, Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Token } from '../../../api/tokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { texts } from '../../../texts';
import { type Draft, draftOf, emptyDraft } from './draft';
import { ExpiryFields } from './ExpiryFields';
import { GroupFields } from './GroupFields';
import { IpField } from './IpField';
import classes from './KeyForm.module.css';
import { LimitFields } from './LimitFields';
import { ModelFields } from './ModelFields';
import { NameField } from './NameField';
import { NoteField } from './NoteField';
import { QuotaFields } from './QuotaFields';
import { useSaveKey } from './useSaveKey';
import { fieldErrorsOf, validate } from './validation';

interface Props {
  token: Token | undefined;
  onTouched: () => void;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

const words = texts.keys.form;

export function KeyForm({ token, onTouched, onCreated, onClose }: Props) {
  // The token as it was when the form opened: gateways keep charging it while the form is open.
  const [original] = useState(token);
  const [draft, setDraft] = useState(() => (original ? draftOf(original) : emptyDraft));
  const [attempted, setAttempted] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { save, isPending, failure, clearFailure } = useSaveKey({ token: original, onCreated, onClose });
  const refusedFields = fieldErrorsOf(failure, draft);
  const errors = attempted ? { ...refusedFields, ...validate(draft) } : {};
  const [refusedField] = Object.keys(refusedFields);

  useEffect(() => {
    if (refusedField) focusField(form.current, refusedField);
  }, [refusedField]);

  function change(changes: Partial<Draft>) {
    setDraft((current) => ({ ...current, ...changes }));
    if (failure) clearFailure();
    onTouched();
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    setAttempted(true);
    const [invalidField] = Object.keys(validate(draft));
    if (invalidField) focusField(form.current, invalidField);
    else save(draft);
  }

  const fields = { draft, errors, onChange: change };
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack gap="lg">
        <NameField {...fields} />
        <QuotaFields {...fields} usedBefore={original?.used_quota ?? 0} exists={original !== undefined} />
        <LimitFields {...fields} usage={original?.period_usage} />
        <ExpiryFields {...fields} />
        <GroupFields {...fields} />
        <ModelFields {...fields} />
        <IpField {...fields} />
        <NoteField {...fields} />
      </Stack>
      <div className={classes.footer}>
        {failure && !refusedField && (
          <Alert color="red" title={words.refused} mb="md">
            <FailureMessage error={failure} />
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.common.cancel}
          </Button>
          <Button type="submit" loading={isPending}>
            {original ? words.save : words.create}
          </Button>
        </Group>
      </div>
    </form>
  );
}

function focusField(form: HTMLFormElement | null, name: string) {
  form?.querySelector<HTMLElement>(`[name="${name}"]`)?.focus();
}
