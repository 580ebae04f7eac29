import { Suspense } from 'react';
import { Route, Router, Switch, useLocation } from 'wouter';
import { NotFoundPage } from '../pages/not-found/NotFoundPage';
import { AppLayout } from './AppLayout';
import { ErrorBoundary } from './ErrorBoundary';
import { matches } from './matches';
import { PageGuard } from './PageGuard';
import { PageSkeleton } from './PageSkeleton';
import { appRoutes, publicRoutes } from './routeTable';
import { SessionGuard } from './SessionGuard';
import { useEncodedSearch } from './useEncodedSearch';

export function Routes() {
  const [path] = useLocation();
  const shape = appRoutes.find((route) => matches(route.path, path))?.shape;
  return (
    <Router searchHook={useEncodedSearch}>
      <Switch>
        {publicRoutes.map(({ path: pattern, page: Page }) => (
          <Route key={pattern} path={pattern}>
            <ErrorBoundary key={path}>
              <Suspense>
                <Page />
              </Suspense>
            </ErrorBoundary>
          </Route>
        ))}
        <Route>
          <SessionGuard>
            <AppLayout>
              <ErrorBoundary key={path}>
                <Suspense fallback={<PageSkeleton shape={shape} />}>
                  <AppPages />
                </Suspense>
              </ErrorBoundary>
            </AppLayout>
          </SessionGuard>
        </Route>
      </Switch>
    </Router>
  );
}

function AppPages() {
  return (
    <Switch>
      {appRoutes.map((route) => (
        <Route key={route.path} path={route.path}>
          <PageGuard route={route} />
        </Route>
      ))}
      <Route component={NotFoundPage} />
    </Switch>
  );
}
