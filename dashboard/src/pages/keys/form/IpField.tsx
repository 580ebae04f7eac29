import { Textarea } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';

const words = texts.keys.form;

export function IpField({ draft, errors, onChange }: FieldsProps) {
  return (
    <Textarea
      name="ips"
      label={words.ips}
      description={words.ipsHint}
      placeholder={words.ipsExample}
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
