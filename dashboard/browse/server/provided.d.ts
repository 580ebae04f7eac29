import 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the server of these tests answers. */
    site: string;
  }
}
