import { Modal, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { type ApiRequest, type Decision, useDecideRequest } from '../../../api/adminRequests';
import { notifySuccess } from '../../../shared/notify';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';

const words = texts.adminRequests.dialog;
const MAX_NOTE = 2000;

interface Props {
  /** The dialog is open while this is defined. */
  decision: Decision | undefined;
  request: ApiRequest;
  onClose: () => void;
}

export function DecisionDialog({ decision, request, onClose }: Props) {
  const shown = useLastDefined(decision) ?? 'approve';
  const title = shown === 'approve' ? words.approveTitle : words.refuseTitle;
  return (
    <Modal
      opened={decision !== undefined}
      onClose={onClose}
      title={title(request.username)}
      closeOnClickOutside={false}
    >
      <DecisionForm decision={shown} request={request} onClose={onClose} />
    </Modal>
  );
}

function DecisionForm({ decision, request, onClose }: Props & { decision: Decision }) {
  const decide = useDecideRequest();
  const [note, setNote] = useState('');
  const approves = decision === 'approve';

  function send() {
    decide.mutate(
      { id: request.id, decision, note },
      {
        onSuccess: () => {
          notifySuccess((approves ? words.approved : words.refused)(request.username));
          onClose();
        },
      },
    );
  }

  return (
    <DialogForm
      submitLabel={approves ? texts.adminRequests.approve : texts.adminRequests.refuse}
      dangerous={!approves}
      pending={decide.isPending}
      failure={decide.error}
      onSubmit={send}
      onCancel={onClose}
    >
      <Text>{approves ? words.approveHint : words.refuseHint}</Text>
      <Textarea
        label={words.note}
        description={words.noteHint}
        data-autofocus
        autosize
        minRows={2}
        maxRows={8}
        maxLength={MAX_NOTE}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
