import { Button, Group, PasswordInput } from '@mantine/core';
import { IconDice5 } from '@tabler/icons-react';
import { useState } from 'react';
import { texts } from '../../../texts';
import { generatePassword } from './password';

interface Props {
  label: string;
  value: string;
  error: string | undefined;
  /** Gets the focus when the dialog opens. */
  isFirst?: boolean;
  onChange: (password: string, isGenerated: boolean) => void;
}

const words = texts.adminUsers.password;

/** A new password for another user. A generated password is visible. */
export function PasswordField({ label, value, error, isFirst, onChange }: Props) {
  const [visible, setVisible] = useState(false);

  function generate() {
    setVisible(true);
    onChange(generatePassword(), true);
  }

  return (
    <PasswordInput
      label={label}
      description={words.hint}
      error={error}
      autoComplete="new-password"
      required
      withAsterisk={false}
      data-autofocus={isFirst}
      visible={visible}
      onVisibilityChange={setVisible}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value, false)}
      inputContainer={(input) => (
        <Group gap="xs" wrap="nowrap" align="flex-end">
          <div style={{ flex: 1, minWidth: 0 }}>{input}</div>
          <Button variant="default" leftSection={<IconDice5 size={18} stroke={1.6} />} onClick={generate}>
            {words.generate}
          </Button>
        </Group>
      )}
    />
  );
}
