import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { memberText } from '../format/json';
import { api, call } from './client';
import { pricesKey } from './prices';
import type { components } from './schema';

export type PriceVersion = components['schemas']['PriceVersionBody'];

/** One's own prices in force. */
export interface PriceFile {
  /** The version of the price list. 0 before one was set. */
  number: number;
  /** The file as it was sent: a parsed one would lose digits of rates. */
  text: string;
}

/** A new price list: another file, or a former version. */
export interface PriceChange {
  file?: string;
  version?: number;
  note?: string;
  /** Rates may move far. */
  accept?: boolean;
  /** The number of the version that it replaces. */
  replaces: number;
}

const adminPricesKey = ['admin', 'prices'] as const;

/** Not cached: an edit begins with the file in force. */
export function usePriceFile() {
  return useQuery({
    queryKey: [...adminPricesKey, 'file'],
    queryFn: ({ signal }) => readFile(signal),
    gcTime: 0,
  });
}

async function readFile(signal: AbortSignal): Promise<PriceFile> {
  let text = '';
  const pending = api.GET('/api/admin/prices', { signal, parseAs: 'text' }).then((answer) => {
    text = answer.data ?? '';
    return { ...answer, data: text ? (JSON.parse(text) as ListAnswer) : undefined };
  });
  const { number } = await call(pending);
  return { number, text: memberText(text, ['data', 'file']) ?? '{}' };
}

type ListAnswer = components['schemas']['Envelope_PriceListBody'];

/** The versions of the price list, newest first. */
export function usePriceVersions() {
  return useQuery({
    queryKey: [...adminPricesKey, 'versions'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/prices/versions', { signal })),
  });
}

export function useSetPrices() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ replaces, file, ...change }: PriceChange) =>
      call(
        api.PUT('/api/admin/prices', {
          params: { header: { 'If-Match': `"${replaces}"` } },
          body: change,
          // The file as it was typed: a parsed one would lose digits of rates.
          bodySerializer: (body) => withFile(JSON.stringify(body), file),
        }),
      ),
    // Also after a failure: other administrators may have set a version.
    onSettled: () => {
      client.invalidateQueries({ queryKey: pricesKey });
      client.invalidateQueries({ queryKey: adminPricesKey });
    },
  });
}

/** `file` is valid JSON, so nothing of it becomes another member. */
function withFile(body: string, file: string | undefined): string {
  return file === undefined ? body : `{"file":${file}${body === '{}' ? '' : ','}${body.slice(1)}`;
}
