import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { Outcome, TokenFault } from '../../../api/changeMany';
import { ApiError } from '../../../api/error';
import { failureText } from '../../../format/failure';
import { formatInteger } from '../../../format/locale';
import { ReasonList } from '../../../shared/ReasonList';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';

const words = texts.keys.many;

interface Props {
  outcome: Outcome;
  all: number;
  onClose: () => void;
}

/** How many keys were changed, and whose were not. */
export function ChangeOutcome({ outcome: { changed, faults, isStopped }, all, onClose }: Props) {
  const summary = useRef<HTMLParagraphElement>(null);
  // What had the focus no longer exists.
  useEffect(() => summary.current?.focus(), []);
  return (
    <Stack>
      <Text ref={summary} tabIndex={-1}>
        {isStopped ? words.stopped(formatInteger(changed), all) : words.done(changed)}
      </Text>
      {faults.length > 0 && (
        <ReasonList label={words.refused(faults.length)} reasons={faults.map(faultText)} />
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>{texts.common.close}</Button>
      </Group>
    </Stack>
  );
}

/** For example "ana, key 12: An administrator disabled this key." */
function faultText({ username, id, error, message }: TokenFault): string {
  const who = id == null ? username : `${username}, ${words.key(String(id))}`;
  const ofOwner = textOf(texts.keys.form.ofOther.errors, error);
  return texts.adminBulk.fault(who, ofOwner ?? failureText(new ApiError(0, error, message)));
}
