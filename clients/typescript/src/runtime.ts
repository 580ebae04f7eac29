/** What is asked of the runtime: Node.js, Deno, Bun, a worker or a browser. */

interface Runtime {
  readonly Bun?: { readonly version: string };
  readonly Deno?: unknown;
  readonly navigator?: { readonly userAgent?: string };
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly getBuiltinModule?: (name: string) => unknown;
  };
}

export function runtime(): Runtime {
  return globalThis as Runtime;
}

/** A variable of the environment; empty where there is none. */
export function environment(name: string): string {
  return runtime().process?.env?.[name] ?? '';
}

export function isCloudflareWorker(): boolean {
  return runtime().navigator?.userAgent === 'Cloudflare-Workers';
}
