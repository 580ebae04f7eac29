import { Paper, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useRequestEnablement } from '../../api/enablement';
import { requestLimits } from '../../api/serverLimits';
import { useUser } from '../../api/session';
import { SendForm } from '../../shared/form/SendForm';
import { useSendForm } from '../../shared/form/useSendForm';
import { notifySuccess } from '../../shared/notify';
import { texts } from '../../texts';

const words = texts.enablement.form;

export function RequestForm({ again }: { again: boolean }) {
  const { username } = useUser();
  const request = useRequestEnablement();
  const { form, ...sending } = useSendForm({
    initialValues: { reason: '' },
    validate: ({ reason }, submitted) => ({
      reason: submitted && reason.trim() === '' && words.reasonMissing,
    }),
    mutation: request,
    send: ({ reason }) =>
      request.mutate({ reason, account: username }, { onSuccess: () => notifySuccess(words.sent) }),
  });

  return (
    <Paper component="section" p="lg">
      <Title order={2} mb={4}>
        {again ? words.again : words.title}
      </Title>
      <Text c="dimmed" mb="lg">
        {words.hint}
      </Text>
      <SendForm sending={sending} submitLabel={words.submit}>
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
          {...form.getInputProps('reason')}
        />
      </SendForm>
    </Paper>
  );
}
