import { useMutation } from '@tanstack/react-query';
import { useRefreshUsers } from './adminUsers';
import { api, call } from './client';
import type { components } from './schema';

type Body = components['schemas']['BulkUsersBody'];

/** Which users to change, and how. */
export type UsersChange = Omit<Body, 'dry_run'>;
export type UserState = components['schemas']['UserStateBody'];
export type ChangedUser = components['schemas']['ChangedUserBody'];
export type ChangedUsers = components['schemas']['ChangedUsersBody'];
/** Takes back what was added to wallets. */
export type Undo = components['schemas']['UndoBody'];

/** What the change would do. It changes nothing. */
export function usePreviewUsersChange() {
  return useMutation({
    mutationFn: (change: UsersChange) =>
      call(api.POST('/api/admin/users/bulk', { body: { ...change, dry_run: true } })),
  });
}

interface Sent {
  change: UsersChange;
  /** The same for each attempt to send this change, so that it is made once. */
  key: string;
}

/** Changes all these users, or none. */
export function useChangeUsers() {
  const refresh = useRefreshUsers();
  return useMutation({
    mutationFn: ({ change, key }: Sent) =>
      call(
        api.POST('/api/admin/users/bulk', { params: { header: { 'Idempotency-Key': key } }, body: change }),
      ),
    onSuccess: ({ users }) => refresh(...users.map(({ id }) => id)),
    // The server may have made the change before the connection was lost.
    onError: () => refresh(),
  });
}
