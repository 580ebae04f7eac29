import { Alert, Button, Fieldset, Group, Stack } from '@mantine/core';
import { type ComponentType, useContext, useLayoutEffect, useRef, useState } from 'react';
import { ApiError } from '../../../api/error';
import type { TokenFieldName } from '../../../api/tokenChanges';
import type { Token, VersionedToken } from '../../../api/tokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { DiscardContext } from '../../../shared/form/discard';
import { markFirst } from '../../../shared/form/markFirst';
import { useSendForm } from '../../../shared/form/useSendForm';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import { Advanced } from './Advanced';
import { ConflictDialog } from './conflict/ConflictDialog';
import { copyOf, draftOf, emptyDraft } from './draft';
import { ExpiryField } from './ExpiryField';
import type { FieldProps } from './FieldProps';
import {
  type AnyField,
  fields,
  hasAdvanced,
  isSwitch,
  type Section,
  type SwitchName,
  sections,
} from './fields';
import { type Fix, fixed } from './fix';
import { GroupField } from './GroupField';
import { IpField } from './IpField';
import classes from './KeyForm.module.css';
import { ModelsField } from './ModelsField';
import { NameField } from './NameField';
import { NoteField } from './NoteField';
import { useOtherOwner } from './owner';
import { PeriodFields } from './PeriodFields';
import { QuotaField } from './QuotaField';
import { RateFields } from './RateFields';
import { SwitchField } from './SwitchField';
import { useSaveKey } from './useSaveKey';
import { fieldErrorsOf, validate } from './validation';

interface Props {
  /** The token to edit. */
  known: VersionedToken | undefined;
  /** A new token begins with the settings of this one. */
  template: Token | undefined;
  /** What to change in the token. */
  fix?: Fix;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

const words = texts.keys.form;

/** Of sections with several inputs. */
const legends: Partial<Record<TokenFieldName, string>> = {
  remain_quota: words.spending,
  rate_limits: texts.keys.fields.rate_limits.label,
};

const first = sections.filter(({ advanced }) => !advanced);
const advanced = sections.filter((section) => section.advanced);
const advancedLabels = advanced.map(({ main }) => texts.keys.fields[main].label);

/** The inputs of the fields. Booleans have a switch. */
const inputs: Record<Exclude<TokenFieldName, SwitchName>, ComponentType<FieldProps>> = {
  name: NameField,
  remain_quota: QuotaField,
  period_limits: PeriodFields,
  rate_limits: RateFields,
  expired_time: ExpiryField,
  group: GroupField,
  model_limits: ModelsField,
  allow_ips: IpField,
  note: NoteField,
};

export function KeyForm({ known: initial, template, fix, onCreated, onClose }: Props) {
  // The token as it was when the form opened: gateways keep charging it while the form is open.
  const [known, setKnown] = useState(initial);
  const original = known?.data;
  const { save, conflict, ...mutation } = useSaveKey({ known, onCreated, onClose });
  const [initialValues] = useState(() => {
    if (original) return fix ? fixed(draftOf(original), fix) : draftOf(original);
    return template ? copyOf(template, Math.floor(Date.now() / 1000)) : emptyDraft;
  });
  const { form, onSubmit, isPending, failure } = useSendForm({
    initialValues,
    validate: (draft, submitted) => (submitted ? validate(draft) : {}),
    mutation,
    refusals: fieldErrorsOf,
    send: save,
  });
  const ref = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => markFirst(ref.current, fix?.path), [fix]);
  const other = useOtherOwner();
  const cancel = useContext(DiscardContext)?.requestClose;

  /** Shows the token as somebody else changed it, instead of what was typed. */
  function load(theirs: VersionedToken) {
    const draft = draftOf(theirs.data);
    setKnown(theirs);
    form.setInitialValues(draft);
    form.setValues(draft);
    form.clearErrors();
  }

  return (
    <form ref={ref} onSubmit={onSubmit} noValidate className={classes.form}>
      <Stack gap="lg" mb="lg">
        {first.map((section) => (
          <Fields key={section.main} section={section} form={form} token={original} />
        ))}
        <Advanced labels={advancedLabels} startsOpen={hasAdvanced(initialValues)}>
          <Stack gap="lg">
            {advanced.map((section) => (
              <Fields key={section.main} section={section} form={form} token={original} />
            ))}
          </Stack>
        </Advanced>
      </Stack>
      <ConflictDialog
        differing={conflict?.differing}
        onKeepTheirs={() => {
          if (conflict) load(conflict.theirs);
          conflict?.close();
        }}
        onSaveMine={() => conflict?.saveMine()}
        onClose={() => conflict?.close()}
      />
      <div className={classes.footer}>
        {failure && (
          <Alert color="red" title={words.refused} mb="md">
            <FailureMessage error={other ? aboutOwner(failure) : failure} />
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
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

/** The texts of some failures speak to the owner. */
function aboutOwner(failure: Error): Error {
  const text = failure instanceof ApiError ? textOf(words.ofOther.errors, failure.code) : undefined;
  return text === undefined ? failure : new Error(text);
}

function Fields({ section: { main, names }, ...props }: FieldProps & { section: Section }) {
  const legend = legends[main];
  const inputs = (
    <Stack gap="sm">
      {names.map((name) => (
        <Field key={name} name={name} {...props} />
      ))}
    </Stack>
  );
  return legend ? <Fieldset legend={legend}>{inputs}</Fieldset> : inputs;
}

function Field({ name, ...props }: FieldProps & { name: TokenFieldName }) {
  const { shown }: AnyField = fields[name];
  if (shown && !shown(props.form.values)) return null;
  if (isSwitch(name)) return <SwitchField {...props} name={name} />;
  const Input = inputs[name];
  return <Input {...props} />;
}
