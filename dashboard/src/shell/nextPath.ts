import { isAdministrator, type User } from '../api/session';

const HOME = '/';

/** The page to open after signing in if no other was asked for. */
export function homeOf(user: Pick<User, 'role'>): string {
  return isAdministrator(user) ? '/admin' : HOME;
}

export function signInPath(from: string): string {
  return from === HOME ? '/sign-in' : `/sign-in?next=${encodeURIComponent(from)}`;
}

/** The path to open after signing in. Always a path of this site, never another host. */
export function nextPath(search: string, home: string, origin = window.location.origin): string {
  const next = new URLSearchParams(search).get('next') ?? home;
  if (!next.startsWith('/') || !URL.canParse(next, origin)) return home;
  const url = new URL(next, origin);
  if (url.origin !== origin || namesHost(url.pathname)) return home;
  return url.pathname + url.search + url.hash;
}

/**
 * Returns true if a browser would read the path as the name of another host, also after it is decoded. The parser leaves
 * such a path of `/.//evil.example`, which itself names no host.
 */
function namesHost(path: string): boolean {
  return /^[/\\](?:[/\\]|%2f|%5c)/i.test(path);
}
