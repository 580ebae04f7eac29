/** Returns true if a path has the form of a route such as `/keys/:id`. */
export function matches(route: string, path: string): boolean {
  const parts = route.split('/');
  const given = path.split('/');
  return parts.length === given.length && parts.every((part, i) => part.startsWith(':') || part === given[i]);
}
