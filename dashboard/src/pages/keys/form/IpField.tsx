import { Textarea } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';

const { label, hint } = texts.keys.fields.allow_ips;

export function IpField({ form }: FieldProps) {
  return (
    <Textarea
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
      {...form.getInputProps('allow_ips')}
    />
  );
}
