import { Group, Radio, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type ChosenTokens, countOf } from '../../../api/chosenTokens';
import type { Scope, TokenSet } from '../../../api/manyTokens';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { LimitChangeFields } from '../../../shared/limits/LimitChangeFields';
import { texts } from '../../../texts';
import { KeyNames } from '../actions/KeyNames';
import { ExpiryField } from '../form/ExpiryField';
import { changeable, emptyManyForm, type ManyAction, type ManyForm, manyErrors, setOf } from './changeForm';
import { ManyGroupField } from './ManyGroupField';

const words = texts.keys.many;
const SECOND_MS = 1000;

interface Props {
  scope: Scope;
  action: ManyAction;
  chosen: ChosenTokens;
  mutation: { isPending: boolean; error: Error | null; reset: () => void };
  onSend: (set: TokenSet) => void;
  onClose: () => void;
}

/** Which keys, and what to change. */
export function ChangeKeysForm({ scope, action, chosen, mutation, onSend, onClose }: Props) {
  const { form, ...sending } = useSendForm({
    initialValues: emptyManyForm,
    validate: (values, submitted) => manyErrors(values, action, submitted),
    mutation,
    send: (values) => onSend(setOf(values, action, Math.floor(Date.now() / SECOND_MS))),
  });
  return (
    <SendForm
      sending={sending}
      submitLabel={words.confirm[action](countOf(chosen))}
      dangerous={action === 'disable'}
      onCancel={onClose}
    >
      {'tokens' in chosen ? <KeyNames tokens={chosen.tokens} mb={0} /> : <Text>{words.everyMatch}</Text>}
      {action === 'disable' && (
        <Text>{scope === 'own' ? texts.keys.disable.warning : words.disableWarning}</Text>
      )}
      {action === 'add_quota' && <AmountField form={form} />}
      {action === 'change' && <Changes scope={scope} form={form} />}
    </SendForm>
  );
}

interface FieldProps {
  form: UseFormReturnType<ManyForm>;
}

function AmountField({ form }: FieldProps) {
  return (
    <TextInput
      label={texts.keys.addQuota.amount}
      description={words.unlimited}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      inputMode="decimal"
      leftSection="$"
      autoComplete="off"
      data-autofocus
      {...form.getInputProps('amount')}
    />
  );
}

function Changes({ scope, form }: FieldProps & { scope: Scope }) {
  const { what } = form.values;
  return (
    <>
      <Radio.Group
        label={texts.adminBulk.action}
        value={what}
        onChange={(chosen) => form.setFieldValue('what', chosen as ManyForm['what'])}
      >
        <Group mt="xs">
          {changeable.map((each) => (
            <Radio key={each} value={each} label={words.what[each]} />
          ))}
        </Group>
      </Radio.Group>
      {what === 'limits' && <LimitChangeFields hint={words.limitsHint} form={form} />}
      {what === 'expiry' && <ExpiryField form={form} />}
      {what === 'group' && <ManyGroupField scope={scope} {...form.getInputProps('group')} />}
    </>
  );
}
