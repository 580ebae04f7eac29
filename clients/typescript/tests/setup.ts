/** One running service for the test files; its ledger is checked at the end. */

import type { TestProject } from 'vitest/node';
import { type Address, Service } from './service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    service: Address;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await Service.started();
  project.provide('service', service.address);
  return () => service.end();
}
