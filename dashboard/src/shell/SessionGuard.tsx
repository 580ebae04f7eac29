import { Center, Loader } from '@mantine/core';
import type { ReactNode } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { useSession } from '../api/session';
import { FailureState } from '../shared/FailureState';
import { texts } from '../texts';
import { signInPath } from './nextPath';

/** Shows its children to signed-in users. Redirects others to the sign-in page, which leads back. */
export function SessionGuard({ children }: { children: ReactNode }) {
  const session = useSession();
  const [path] = useLocation();
  const search = useSearch();
  if (session.data) return children;
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
