import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Grace } from '../../../api/oldKeys';
import { FailureMessage } from '../../../shared/FailureMessage';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { DEFAULT_GRACE, endsAtOnce, type GraceChoice, graceChoices, graces } from './grace';

interface Rotation<Of> {
  of: Of;
  grace: Grace;
}

interface Props<Of, Data> {
  /** What gets another key. The dialog is open while this is defined. */
  of: Of | undefined;
  title: (of: Of) => string;
  /** Who gets a new key. */
  explanation: string;
  /** Shown below the explanation, unless the title says which. */
  names?: (of: Of) => ReactNode;
  /** What the button says that replaces, and if the old key ends at once. */
  confirm?: { later: string; leaked: string };
  mutation: Pick<UseMutationResult<Data, Error, Rotation<Of>>, 'mutate' | 'isPending' | 'error' | 'reset'>;
  onReplaced: (of: Of, rotated: Data, endedAtOnce: boolean) => void;
  /** The dialog has closed and returned the focus. */
  onClosed?: () => void;
  onClose: () => void;
}

const words = texts.keys.replace;

/** Asks how long the old key works, and replaces it. */
export function GraceDialog<Of, Data>(props: Props<Of, Data>) {
  const {
    of,
    title,
    explanation,
    names,
    confirm = words.confirm,
    mutation,
    onReplaced,
    onClosed,
    onClose,
  } = props;
  const shown = useLastDefined(of);
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

  function replace(shown: Of) {
    const onSuccess = (rotated: Data) => {
      onReplaced(shown, rotated, dangerous);
      onClose();
    };
    mutation.mutate({ of: shown, grace: graces[choice] }, { onSuccess });
  }

  return (
    <Modal
      opened={of !== undefined}
      onClose={close}
      onExitTransitionEnd={reset}
      title={shown && title(shown)}
    >
      <Stack>
        <Text>{explanation}</Text>
        {shown && names?.(shown)}
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
            {dangerous ? confirm.leaked : confirm.later}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
