import { Textarea } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';

const { label, hint } = texts.keys.fields.allow_ips;

export function IpField({ draft, errors, onChange }: FieldsProps) {
  return (
    <Textarea
      name="ips"
      label={label}
      description={hint}
      placeholder={texts.keys.form.ipsExample}
      autosize
      minRows={2}
      maxRows={8}
      spellCheck={false}
      autoCapitalize="off"
      styles={{
        input: { fontFamily: 'var(--mantine-font-family-monospace)' },
        error: { whiteSpace: 'pre-line', overflowWrap: 'anywhere' },
      }}
      value={draft.ips}
      error={errors.ips}
      onChange={(event) => onChange({ ips: event.currentTarget.value })}
    />
  );
}
