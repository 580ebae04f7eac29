import { Button, Group, PasswordInput } from '@mantine/core';
import { IconDice5 } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../../../shared/CopyButton';
import { texts } from '../../../texts';
import { generatePassword, type Password } from './password';

interface Props {
  value: Password;
  error?: ReactNode;
  /** Gets the focus when the dialog opens. */
  isFirst?: boolean;
  onChange: (password: Password) => void;
}

const words = texts.adminUsers.password;

/** A new password for another user. A generated password is visible. */
export function PasswordField({ value, isFirst, onChange, ...input }: Props) {
  const [visible, setVisible] = useState(false);

  function generate() {
    setVisible(true);
    onChange({ text: generatePassword(), isGenerated: true });
  }

  return (
    <PasswordInput
      {...input}
      label={words.label}
      description={words.hint}
      autoComplete="new-password"
      required
      withAsterisk={false}
      data-autofocus={isFirst}
      visible={visible}
      onVisibilityChange={setVisible}
      value={value.text}
      onChange={(event) => onChange({ text: event.currentTarget.value, isGenerated: false })}
      inputContainer={(input) => (
        <Group gap="xs" wrap="nowrap" align="flex-end">
          <div style={{ flex: 1, minWidth: 0 }}>{input}</div>
          {value.isGenerated && <CopyButton value={value.text} label={words.copy} />}
          <Button variant="default" leftSection={<IconDice5 size={18} stroke={1.6} />} onClick={generate}>
            {words.generate}
          </Button>
        </Group>
      )}
    />
  );
}
