import { Button, Paper, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useRequestEnablement } from '../../api/enablement';
import { requestLimits } from '../../api/serverLimits';
import { useUser } from '../../api/session';
import { FailureMessage } from '../../shared/FailureMessage';
import { notifySuccess } from '../../shared/notify';
import { texts } from '../../texts';

const words = texts.enablement.form;

export function RequestForm({ again }: { again: boolean }) {
  const { username } = useUser();
  const request = useRequestEnablement();
  const [reason, setReason] = useState('');
  const [isSent, setSent] = useState(false);
  const isMissing = reason.trim() === '';

  function send(event: FormEvent) {
    event.preventDefault();
    setSent(true);
    if (isMissing) return;
    request.mutate({ reason, account: username }, { onSuccess: () => notifySuccess(words.sent) });
  }

  return (
    <Paper component="section" p="lg">
      <Title order={2} mb={4}>
        {again ? words.again : words.title}
      </Title>
      <Text c="dimmed" mb="lg">
        {words.hint}
      </Text>
      <form onSubmit={send} noValidate>
        <Stack>
          <TextInput
            label={words.account}
            description={words.accountHint}
            name="account"
            value={username}
            readOnly
            variant="filled"
          />
          <Textarea
            label={words.reason}
            description={words.reasonHint}
            name="reason"
            autosize
            minRows={4}
            maxRows={14}
            maxLength={requestLimits.ApiRequestRequest.reason.maxLength}
            required
            withAsterisk={false}
            value={reason}
            error={isSent && isMissing && words.reasonMissing}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {request.error && (
            <Text c="var(--mantine-color-error)" role="alert">
              <FailureMessage error={request.error} />
            </Text>
          )}
          <div>
            <Button type="submit" loading={request.isPending}>
              {words.submit}
            </Button>
          </div>
        </Stack>
      </form>
    </Paper>
  );
}
