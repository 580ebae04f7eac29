const HOME = '/';

export function signInPath(from: string): string {
  return from === HOME ? '/sign-in' : `/sign-in?next=${encodeURIComponent(from)}`;
}

/** Where to go after the sign-in: only ever a path of this site. */
export function nextPath(search: string, origin = window.location.origin): string {
  const next = new URLSearchParams(search).get('next') ?? HOME;
  if (!next.startsWith('/') || !URL.canParse(next, origin)) return HOME;
  const url = new URL(next, origin);
  return url.origin === origin ? url.pathname + url.search + url.hash : HOME;
}
