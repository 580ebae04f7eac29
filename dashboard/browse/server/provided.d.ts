import 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the test server. */
    site: string;
  }
}
