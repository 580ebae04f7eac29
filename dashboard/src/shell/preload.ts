import { queryClient } from '../api/queryClient';
import { sessionQuery } from '../api/session';
import { matches } from './matches';
import { appRoutes } from './routeTable';

/** Asks for the session and loads the page at the same time, before anything is rendered: each takes a round trip. */
export function preload(path: string) {
  queryClient.prefetchQuery(sessionQuery);
  // A page that fails to load fails again, and visibly, when it is shown.
  appRoutes
    .find((route) => matches(route.path, path))
    ?.page.load?.()
    .catch(() => {});
}
