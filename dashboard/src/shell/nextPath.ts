const HOME = '/';

export function signInPath(from: string): string {
  return from === HOME ? '/sign-in' : `/sign-in?next=${encodeURIComponent(from)}`;
}

/** The path to open after signing in. Always a path of this site, never another host. */
export function nextPath(search: string, origin = window.location.origin): string {
  const next = new URLSearchParams(search).get('next') ?? HOME;
  if (!next.startsWith('/') || !URL.canParse(next, origin)) return HOME;
  const url = new URL(next, origin);
  if (url.origin !== origin || namesHost(url.pathname)) return HOME;
  return url.pathname + url.search + url.hash;
}

/**
 * Returns true if a browser would read the path as the name of another host, also after it is decoded. The parser leaves
 * such a path of `/.//evil.example`, which itself names no host.
 */
function namesHost(path: string): boolean {
  return /^[/\\](?:[/\\]|%2f|%5c)/i.test(path);
}
