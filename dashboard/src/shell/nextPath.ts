const HOME = '/';

export function signInPath(from: string): string {
  return from === HOME ? '/sign-in' : `/sign-in?next=${encodeURIComponent(from)}`;
}

/** The path to open after signing in. Always a path of this site, never another host. */
export function nextPath(search: string, origin = window.location.origin): string {
  const next = new URLSearchParams(search).get('next') ?? HOME;
  if (!next.startsWith('/') || !URL.canParse(next, origin)) return HOME;
  const url = new URL(next, origin);
  return url.origin === origin ? url.pathname + url.search + url.hash : HOME;
}
