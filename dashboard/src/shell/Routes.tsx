import { Suspense } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { NotFoundPage } from '../pages/not-found/NotFoundPage';
import { ErrorBoundary } from './ErrorBoundary';
import { Frame } from './Frame';
import { PageGuard } from './PageGuard';
import { PageSkeleton } from './PageSkeleton';
import { framedRoutes, publicRoutes } from './routeTable';
import { SessionGuard } from './SessionGuard';

export function Routes() {
  const [path] = useLocation();
  return (
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
          <Frame>
            <ErrorBoundary key={path}>
              <Suspense fallback={<PageSkeleton />}>
                <FramedPages />
              </Suspense>
            </ErrorBoundary>
          </Frame>
        </SessionGuard>
      </Route>
    </Switch>
  );
}

function FramedPages() {
  return (
    <Switch>
      {framedRoutes.map((route) => (
        <Route key={route.path} path={route.path}>
          <PageGuard route={route} />
        </Route>
      ))}
      <Route component={NotFoundPage} />
    </Switch>
  );
}
