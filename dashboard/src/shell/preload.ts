import { queryClient } from '../api/queryClient';
import { sessionQuery } from '../api/session';
import { statusQuery } from '../api/status';
import { matches } from './matches';
import { appRoutes } from './routeTable';

/**
 * Asks for the session and the status and loads the page at the same time, before anything is rendered: each takes a round
 * trip.
 */
export function preload(path: string) {
  queryClient.prefetchQuery(sessionQuery);
  queryClient.prefetchQuery(statusQuery);
  // A page that fails to load fails again, and visibly, when it is shown.
  appRoutes
    .find((route) => matches(route.path, path))
    ?.page.load?.()
    .catch(() => {});
}
