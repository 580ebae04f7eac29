import { Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type ApiRequest, type Decision, useAnswerRequest } from '../../../api/adminRequests';
import { useAccount } from '../../../api/adminUsers';
import { requestLimits } from '../../../api/serverLimits';
import { formatUsd, formatUsdExact } from '../../../format/money';
import { FormModal } from '../../../shared/form/FormModal';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { walletNote } from '../users/wallet';
import { walletErrorText } from '../users/walletErrorText';
import { type FailedTopUp, TopUpFailure } from './TopUpFailure';
import { topUpOf } from './topUp';

const words = texts.adminRequests.dialog;

interface Props {
  /** The dialog is open while this is defined. */
  decision: Decision | undefined;
  request: ApiRequest;
  onClose: () => void;
}

/** Answers a request. An approval can also add to the wallet. */
export function DecisionDialog({ decision, request, onClose }: Props) {
  const shown = useLastDefined(decision) ?? 'approve';
  const [failed, setFailed] = useState<FailedTopUp>();
  const title = failed ? words.approvedTitle : shown === 'approve' ? words.approveTitle : words.refuseTitle;

  function close() {
    onClose();
    setFailed(undefined);
  }

  return (
    <FormModal opened={decision !== undefined} onClose={close} title={title(request.username)}>
      {failed ? (
        <TopUpFailure request={request} failed={failed} onClose={close} />
      ) : (
        <DecisionForm decision={shown} request={request} onClose={close} onTopUpFailed={setFailed} />
      )}
    </FormModal>
  );
}

interface FormProps extends Props {
  decision: Decision;
  onTopUpFailed: (failed: FailedTopUp) => void;
}

function DecisionForm({ decision, request, onClose, onTopUpFailed }: FormProps) {
  const answer = useAnswerRequest();
  const wallet = useAccount(request.user_id).data?.quota;
  const approves = decision === 'approve';
  const topUpFor = (amount: string) => (approves ? topUpOf(amount, wallet ?? 0) : { units: 0 });
  const { done, approved, refused } = words;

  const { form, ...sending } = useSendForm({
    initialValues: { amount: '', note: '' },
    validate: ({ amount }) => {
      const topUp = topUpFor(amount);
      return { amount: 'error' in topUp && walletErrorText(topUp.error, wallet ?? 0) };
    },
    mutation: answer,
    send,
  });
  const topUp = topUpFor(form.values.amount);

  function send({ amount, note }: { amount: string; note: string }) {
    const topUp = topUpFor(amount);
    if ('error' in topUp) return;
    const { units } = topUp;
    answer.mutate(
      { request, decision, note, topUp: units, topUpNote: walletNote(note) },
      {
        onSuccess: ({ topUpError }) => {
          if (topUpError) {
            onTopUpFailed({ units, note: walletNote(note), before: wallet, error: topUpError });
            return;
          }
          const message = units > 0 ? done(request.username, formatUsdExact(units)) : undefined;
          notifySuccess(message ?? (approves ? approved : refused)(request.username));
          onClose();
        },
      },
    );
  }

  return (
    <SendForm sending={sending} submitLabel={submitLabel()} dangerous={!approves} onCancel={onClose}>
      <Text>{approves ? words.approveHint : words.refuseHint}</Text>
      {approves && (
        <TextInput
          label={words.amount}
          description={wallet === undefined ? words.amountHint : words.holds(formatUsd(wallet))}
          inputMode="decimal"
          leftSection="$"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('amount')}
        />
      )}
      <Textarea
        label={words.note}
        description={words.noteHint}
        data-autofocus={!approves || undefined}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={requestLimits.DecisionBody.note.maxLength}
        {...form.getInputProps('note')}
      />
    </SendForm>
  );

  function submitLabel() {
    if (!approves) return texts.adminRequests.refuse;
    return 'units' in topUp && topUp.units > 0 ? words.approveAndTopUp : texts.adminRequests.approve;
  }
}
