import { Button } from '@mantine/core';
import { Link, Redirect } from 'wouter';
import { isAdministrator, useUser } from '../api/session';
import { EmptyState } from '../shared/EmptyState';
import { PageHeader } from '../shared/PageHeader';
import { texts } from '../texts';
import type { AppRoute } from './routeTable';

/** Hides pages that the account cannot use. The server enforces the permissions. */
export function PageGuard({ route: { page: Page, administrator, needsTokenApi } }: { route: AppRoute }) {
  const user = useUser();
  if (administrator && !isAdministrator(user)) {
    const { title, hint } = texts.shell.notAllowed;
    return (
      <>
        <PageHeader title={title} />
        <EmptyState
          title={hint}
          action={
            <Button component={Link} href="/">
              {texts.shell.notFound.home}
            </Button>
          }
        />
      </>
    );
  }
  if (needsTokenApi && !user.token_api_enabled) return <Redirect to="/enablement" replace />;
  return <Page />;
}
