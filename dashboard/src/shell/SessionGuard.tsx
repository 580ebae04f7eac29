import { Center, Loader } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { UserContext, useSession } from '../api/session';
import { FailureState } from '../shared/FailureState';
import { useLastDefined } from '../shared/useLastDefined';
import { texts } from '../texts';
import { signInPath } from './nextPath';
import { SignInAgainDialog } from './SignInAgainDialog';

/**
 * Shows its children to signed-in users. Redirects others to the sign-in page, which leads back. If the session ends
 * later, the children stay, and a dialog over them signs in again.
 */
export function SessionGuard({ children }: { children: ReactNode }) {
  const session = useSession();
  const user = useLastDefined(session.data ?? undefined);
  const [path] = useLocation();
  const search = useSearch();
  if (user) {
    return (
      <UserContext value={user}>
        {/* Another account gets new pages. */}
        <Fragment key={user.id}>{children}</Fragment>
        <SignInAgainDialog username={user.username} opened={session.data === null} />
      </UserContext>
    );
  }
  if (session.data === null) return <Redirect to={signInPath(search ? `${path}?${search}` : path)} replace />;
  return (
    <Center mih="100dvh" p="md">
      {session.isError ? (
        <FailureState error={session.error} onRetry={() => session.refetch()} />
      ) : (
        <Loader aria-label={texts.common.loading} />
      )}
    </Center>
  );
}
