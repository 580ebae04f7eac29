import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { Grace } from '../../../api/oldKeys';
import type { Token } from '../../../api/tokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { DEFAULT_GRACE, endsAtOnce, type GraceChoice, graceChoices, graces } from './grace';

interface Rotation {
  id: number;
  grace: Grace;
}

interface Props<OneToken extends Token, Data> {
  /** The dialog is open while this is defined. */
  token: OneToken | undefined;
  /** Who gets a new key. */
  explanation: string;
  mutation: Pick<UseMutationResult<Data, Error, Rotation>, 'mutate' | 'isPending' | 'error' | 'reset'>;
  onReplaced: (token: OneToken, rotated: Data, endedAtOnce: boolean) => void;
  /** The dialog has closed and returned the focus. */
  onClosed?: () => void;
  onClose: () => void;
}

const words = texts.keys.replace;

/** Asks how long the old key works, and replaces it. */
export function GraceDialog<OneToken extends Token, Data>(props: Props<OneToken, Data>) {
  const { token, explanation, mutation, onReplaced, onClosed, onClose } = props;
  const shown = useLastDefined(token);
  const [choice, setChoice] = useState<GraceChoice>(DEFAULT_GRACE);
  const dangerous = endsAtOnce(choice);

  function close() {
    if (!mutation.isPending) onClose();
  }

  function reset() {
    mutation.reset();
    setChoice(DEFAULT_GRACE);
    onClosed?.();
  }

  function replace(of: OneToken) {
    const onSuccess = (rotated: Data) => {
      onReplaced(of, rotated, dangerous);
      onClose();
    };
    mutation.mutate({ id: of.id, grace: graces[choice] }, { onSuccess });
  }

  return (
    <Modal
      opened={token !== undefined}
      onClose={close}
      onExitTransitionEnd={reset}
      title={shown && words.title(shown.name)}
    >
      <Stack>
        <Text>{explanation}</Text>
        <Radio.Group
          label={words.question}
          value={choice}
          onChange={(next) => {
            setChoice(next as GraceChoice);
            mutation.reset();
          }}
        >
          <Stack gap="sm" mt="xs">
            {graceChoices.map((each) => (
              <Radio
                key={each}
                value={each}
                color={endsAtOnce(each) ? 'red' : undefined}
                label={words.choices[each].label}
                description={words.choices[each].hint}
                data-autofocus={each === choice || undefined}
              />
            ))}
          </Stack>
        </Radio.Group>
        {mutation.error && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={mutation.error} />
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {texts.common.cancel}
          </Button>
          <Button
            color={dangerous ? 'red' : undefined}
            loading={mutation.isPending}
            onClick={() => shown && replace(shown)}
          >
            {dangerous ? words.confirmLeaked : words.confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
