import { Alert, Button, Group, Stack } from '@mantine/core';
import { type ComponentType, useEffect, useState } from 'react';
import type { TokenFieldName } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { useSendForm } from '../../../shared/form/useSendForm';
import { texts } from '../../../texts';
import { draftOf, emptyDraft } from './draft';
import { ExpiryField } from './ExpiryField';
import type { FieldProps } from './FieldProps';
import { type AnyField, fields, isSwitch, type SwitchName, sections } from './fields';
import { GroupField } from './GroupField';
import { IpField } from './IpField';
import classes from './KeyForm.module.css';
import { LimitFields } from './LimitFields';
import { ModelsField } from './ModelsField';
import { NameField } from './NameField';
import { NoteField } from './NoteField';
import { QuotaField } from './QuotaField';
import { SwitchField } from './SwitchField';
import { useSaveKey } from './useSaveKey';
import { fieldErrorsOf, validate } from './validation';

interface Props {
  token: Token | undefined;
  onDirty: (isDirty: boolean) => void;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

const words = texts.keys.form;

/** The inputs of the fields. Booleans have a switch. */
const inputs: Record<Exclude<TokenFieldName, SwitchName>, ComponentType<FieldProps> | undefined> = {
  name: NameField,
  remain_quota: QuotaField,
  period_limits: LimitFields,
  // In the same field set as `period_limits`.
  rate_limits: undefined,
  expired_time: ExpiryField,
  group: GroupField,
  model_limits: ModelsField,
  allow_ips: IpField,
  note: NoteField,
};

export function KeyForm({ token, onDirty, onCreated, onClose }: Props) {
  // The token as it was when the form opened: gateways keep charging it while the form is open.
  const [original] = useState(token);
  const { save, ...mutation } = useSaveKey({ token: original, onCreated, onClose });
  const { form, onSubmit, isPending, failure } = useSendForm({
    initialValues: original ? draftOf(original) : emptyDraft,
    validate: (draft, submitted) => (submitted ? validate(draft) : {}),
    mutation,
    refusals: fieldErrorsOf,
    send: save,
  });

  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);

  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="lg">
        {sections.map((names) => (
          <Stack key={names[0]} gap="sm">
            {names.map((name) => (
              <Field key={name} name={name} form={form} token={original} />
            ))}
          </Stack>
        ))}
      </Stack>
      <div className={classes.footer}>
        {failure && (
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

function Field({ name, ...props }: FieldProps & { name: TokenFieldName }) {
  const { shown }: AnyField = fields[name];
  if (shown && !shown(props.form.values)) return null;
  if (isSwitch(name)) return <SwitchField {...props} name={name} />;
  const Input = inputs[name];
  return Input && <Input {...props} />;
}
