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
 * the texts of each language, the app, what several pages share, and each page. What several pages share is in one file for
 * the two pages that people see first, one for each of the two, one for forms, one for pages of administrators, and one for
 * all others, so that the first pages load little that they do not need.
 */
export function chunks() {
  const app = new Set<string>();
  const shared = new Set<string>();
  const overview = new Set<string>();
  const keys = new Set<string>();
  const form = new Set<string>();
  const admin = new Set<string>();
  const later = new Set<string>();

  const plugin: Plugin = {
    name: 'chunks',
    async buildEnd() {
      const importsOf = usedImports(this);
      const closureOf = (files: string[]) => closure(files.map(source), importsOf);
      const first = await closureOf(['main.tsx', ...LANGUAGES]);
      const needed = await closureOf(['App.tsx']);
      const ofOverview = await closureOf(['pages/overview/OverviewPage.tsx']);
      const ofKeys = await closureOf(['pages/keys/KeysPage.tsx']);
      const forms = await closureOf(['shared/form/useSendForm.ts']);
      const entriesOf = new Map<string, string[]>();
      // Pages, and dialogs that are loaded when they open.
      const lazy = [...this.getModuleIds()].flatMap(
        (id) => this.getModuleInfo(id)?.dynamicallyImportedIds ?? [],
      );
      for (const entry of new Set(lazy)) {
        for (const id of await closure([entry], importsOf)) {
          entriesOf.set(id, [...(entriesOf.get(id) ?? []), entry]);
        }
      }
      for (const id of needed) if (!first.has(id)) app.add(id);
      for (const [id, entries] of entriesOf) {
        if (first.has(id) || app.has(id) || entries.length < 2) continue;
        if (ofOverview.has(id) && ofKeys.has(id)) shared.add(id);
        else if (ofOverview.has(id)) overview.add(id);
        else if (ofKeys.has(id)) keys.add(id);
        else if (forms.has(id)) form.add(id);
        else if (entries.every((entry) => entry.startsWith(ADMIN))) admin.add(id);
        else later.add(id);
      }
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
  const groups: Rolldown.CodeSplittingGroup[] = Object.entries({
    app,
    shared,
    overview,
    keys,
    form,
    admin,
    later,
  }).map(([name, modules]) => ({ name, test: (id) => modules.has(id) }));
  return { plugin, groups };
}

/** No name of an export: `import * as all`. */
const ALL = '*';

type ImportsOf = (id: string) => Promise<string[]>;

/** Modules and all modules that they import, directly or indirectly. */
async function closure(entries: string[], importsOf: ImportsOf): Promise<Set<string>> {
  const found = new Set(entries);
  for (const id of found) for (const imported of await importsOf(id)) found.add(imported);
  return found;
}

/**
 * Finds the modules that a module imports. An import of `Button` from a library is that of the module with the button, not
 * of the index with all components of the library.
 */
function usedImports(build: Rolldown.PluginContext): ImportsOf {
  const bodyOf = once((id) => {
    const { code } = build.getModuleInfo(id) ?? {};
    return code ? build.parse(code).body : [];
  });

  /** The modules with the exports of an index, by name. `undefined` if the module has code of its own. */
  const indexOf = once(async (id) => {
    if (!id.includes('/node_modules/')) return undefined;
    const sources = new Map<string, string>();
    const exported = new Map<string, string>();
    const body = bodyOf(id);
    for (const statement of body) {
      if (statement.type === 'ImportDeclaration') {
        for (const { local } of statement.specifiers) sources.set(local.name, statement.source.value);
      } else if (statement.type !== 'ExportNamedDeclaration' || statement.declaration) {
        return undefined;
      }
    }
    for (const statement of body) {
      if (statement.type !== 'ExportNamedDeclaration') continue;
      for (const { local, exported: as } of statement.specifiers) {
        const from = statement.source?.value ?? sources.get(nameOf(local));
        const resolved = from && (await build.resolve(from, id));
        if (resolved) exported.set(nameOf(as), resolved.id);
      }
    }
    return exported;
  });

  return once(async (id) => {
    // An index itself is empty in the build.
    if (await indexOf(id)) return [];
    const { importedIds = [] } = build.getModuleInfo(id) ?? {};
    const indexes = new Map<string, Map<string, string>>();
    for (const imported of importedIds) {
      const index = await indexOf(imported);
      if (index) indexes.set(imported, index);
    }
    const used = new Set(importedIds);
    if (indexes.size === 0) return [...used];
    for (const statement of bodyOf(id)) {
      if (!('source' in statement) || !statement.source) continue;
      const index = indexes.get((await build.resolve(statement.source.value, id))?.id ?? '');
      if (!index) continue;
      const names =
        statement.type === 'ImportDeclaration'
          ? statement.specifiers.map((it) => (it.type === 'ImportSpecifier' ? nameOf(it.imported) : ALL))
          : [ALL];
      for (const name of names) {
        const found = index.get(name);
        for (const module of found ? [found] : index.values()) used.add(module);
      }
    }
    return [...used];
  });
}

/** Names of imports and exports can be texts. */
function nameOf(node: { name: string } | { value: string }): string {
  return 'name' in node ? node.name : node.value;
}

/** Calls a function once per argument and keeps its answers. */
function once<T>(call: (id: string) => T): (id: string) => T {
  const answers = new Map<string, T>();
  return (id) => {
    const known = answers.get(id);
    if (known !== undefined) return known;
    const answer = call(id);
    answers.set(id, answer);
    return answer;
  };
}
