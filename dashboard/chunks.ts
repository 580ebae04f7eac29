import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

const source = (file: string) => resolve(import.meta.dirname, 'src', file);

const ADMIN = source('pages/admin/');

const LANGUAGES = readdirSync(source('texts'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `texts/${name}/index.ts`);

/**
 * Sorts modules into few files, so that a page needs few requests: what `main.tsx` needs before it knows the language,
 * the texts of each language, the app with what several pages share, what forms share, what only pages of administrators
 * share, and each page.
 */
export function chunks() {
  const app = new Set<string>();
  const admin = new Set<string>();
  const form = new Set<string>();

  const plugin: Plugin = {
    name: 'chunks',
    buildEnd() {
      const importsOf = (id: string) => this.getModuleInfo(id)?.importedIds ?? [];
      const first = new Set(
        ['main.tsx', ...LANGUAGES].flatMap((file) => [...closure(source(file), importsOf)]),
      );
      const shared = closure(source('App.tsx'), importsOf);
      // The first page that people see has none.
      for (const id of closure(source('shared/form/useSendForm.ts'), importsOf)) {
        if (!first.has(id) && !shared.has(id)) form.add(id);
      }
      const entriesOf = new Map<string, string[]>();
      // Pages, and dialogs that are loaded when they open.
      const lazy = [...this.getModuleIds()].flatMap(
        (id) => this.getModuleInfo(id)?.dynamicallyImportedIds ?? [],
      );
      for (const entry of new Set(lazy)) {
        for (const id of closure(entry, importsOf)) entriesOf.set(id, [...(entriesOf.get(id) ?? []), entry]);
      }
      for (const [id, entries] of entriesOf) {
        if (entries.length < 2 || shared.has(id) || form.has(id)) continue;
        if (entries.every((entry) => entry.startsWith(ADMIN))) admin.add(id);
        else shared.add(id);
      }
      for (const id of shared) if (!first.has(id)) app.add(id);
      for (const id of first) admin.delete(id);
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        // The browser loads the app while `main.tsx` loads the texts. The app is imported after them.
        const tags = Object.values(bundle)
          .filter((file) => file.type === 'chunk' && file.name === 'app')
          .map(({ fileName }) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${fileName}` },
            injectTo: 'head' as const,
          }));
        // In the head, the styles of the app would keep the browser from painting what is there until it has loaded.
        const [styles = ''] = /\n *<link rel="stylesheet"[^>]*>/.exec(html) ?? [];
        return { html: html.replace(styles, '').replace(/\n *<\/body>/, `${styles}$&`), tags };
      },
    },
  };
  const groups: Rolldown.CodeSplittingGroup[] = [
    { name: 'app', test: (id) => app.has(id) },
    { name: 'admin', test: (id) => admin.has(id) },
    { name: 'form', test: (id) => form.has(id) },
  ];
  return { plugin, groups };
}

/** A module and all modules that it imports, directly or indirectly. */
function closure(entry: string, importsOf: (id: string) => readonly string[]): Set<string> {
  const found = new Set([entry]);
  for (const id of found) for (const imported of importsOf(id)) found.add(imported);
  return found;
}
