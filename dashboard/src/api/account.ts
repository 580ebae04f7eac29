import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';
import { sessionKey, type User } from './session';

type AccountChanges = Pick<components['schemas']['SelfBody'], 'display_name' | 'email'>;

export function useEditAccount() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: AccountChanges) => call(api.PUT('/api/user/self', { body })),
    onSuccess: (user) => client.setQueryData(sessionKey, user),
  });
}

interface PasswordChange {
  username: string;
  oldPassword: string;
  newPassword: string;
}

/**
 * A new password ends all sessions, including this one, so this signs in again with the new password. Returns `null` if
 * that fails; the user must then sign in.
 */
async function changePassword(change: PasswordChange): Promise<User | null> {
  const { username, oldPassword, newPassword } = change;
  await call(api.PUT('/api/user/self', { body: { original_password: oldPassword, password: newPassword } }));
  return call(api.POST('/api/user/login', { body: { username, password: newPassword } })).catch(() => null);
}

export function useChangePassword() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: changePassword,
    gcTime: 0,
    onSuccess: (user) => client.setQueryData(sessionKey, user),
  });
}
