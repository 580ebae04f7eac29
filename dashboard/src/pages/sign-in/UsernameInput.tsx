import { TextInput } from '@mantine/core';
import { texts } from '../../texts';

interface Props {
  description?: string;
  value: string;
  onChange: (value: string) => void;
}

export function UsernameInput({ description, value, onChange }: Props) {
  return (
    <TextInput
      label={texts.signIn.username}
      description={description}
      name="username"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      autoFocus
      required
      withAsterisk={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
