import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

export type Page = ComponentType & { load?: () => Promise<unknown> };

/** A page that is loaded when it is first shown, or before by `load`. */
export function lazyPage(load: () => Promise<{ default: ComponentType }>): Page {
  const page: LazyExoticComponent<ComponentType> = lazy(load);
  return Object.assign(page, { load });
}
