import { Select, TextInput } from '@mantine/core';
import { limits } from '../../../api/serverLimits';
import { useUser } from '../../../api/session';
import { useGroups } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import { contextLabel } from '../units';
import type { Options, Values } from './values';

const words = texts.prices.calculator;

export interface InputProps {
  values: Values;
  options: Options;
  onChange: (changes: Partial<Values>) => void;
}

/** Which price counts: that of a model, in a context, and the group that multiplies it. */
export function PriceInputs({ values, options, onChange }: InputProps) {
  const { group: ownGroup } = useUser();
  const groups = Object.keys(useGroups().data ?? {});
  return (
    <>
      <TextInput
        label={words.model}
        name="model"
        autoComplete="off"
        maxLength={limits.model_characters}
        value={values.model}
        onChange={(event) => onChange({ model: event.currentTarget.value })}
      />
      <TextInput
        label={words.provider}
        name="provider"
        placeholder={words.anyProvider}
        autoComplete="off"
        value={values.provider}
        onChange={(event) => onChange({ provider: event.currentTarget.value })}
      />
      {groups.length > 1 && (
        <Select
          label={words.group}
          data={[
            { value: '', label: texts.keys.form.ownGroup(ownGroup) },
            ...groups.filter((name) => name !== ownGroup),
          ]}
          allowDeselect={false}
          value={values.group}
          onChange={(group) => onChange({ group: group ?? '' })}
        />
      )}
      {Object.entries(options.contexts).map(([name, choices]) => (
        <Select
          key={name}
          label={contextLabel(name)}
          data={[{ value: '', label: words.standard }, ...choices]}
          allowDeselect={false}
          value={choices.includes(values.context[name] ?? '') ? values.context[name] : ''}
          onChange={(value) => onChange({ context: { ...values.context, [name]: value ?? '' } })}
        />
      ))}
    </>
  );
}
