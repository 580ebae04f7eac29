import { useEditUser } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { ENABLED } from './status';

export function useEnableUser() {
  const edit = useEditUser();
  return ({ id, username }: User) =>
    // A promise, because what called it unmounts before the response, and `mutate` callbacks would not run.
    edit
      .mutateAsync({ id, patch: { status: ENABLED } })
      .then(() => notifySuccess(texts.adminUsers.enabledAgain(username)), notifyFailure);
}
