import type { Remedy } from '../../../api/outlook';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';

const words = texts.usage.remedies;

/** What a button does or opens. */
export type Opens = 'key switch' | 'key form' | 'account switch' | 'account form' | 'wallet' | 'prices';

interface Entry {
  opens: Opens;
  label: (remedy: Remedy) => string;
  /** Says who can do it. Absent where that is the owner of the key. */
  can?: (who: string) => string;
}

const allow = ({ value }: Remedy) => words.allow(value ?? '');
const raise = ({ field }: Remedy) => textOf(words.raiseOf, field ?? '') ?? words.raise;

/** By the `action` of the API. */
const table: Record<string, Entry> = {
  enable_key: { opens: 'key switch', label: () => words.enable, can: words.can.enable },
  extend_key: { opens: 'key form', label: () => words.extend },
  change_group: { opens: 'key form', label: () => words.changeGroup },
  allow_model: { opens: 'key form', label: allow },
  allow_address: { opens: 'key form', label: allow },
  add_quota: { opens: 'key form', label: () => words.addQuota },
  raise_limit: { opens: 'key form', label: raise },
  add_price: { opens: 'prices', label: () => words.addPrice, can: words.can.addPrice },
  enable_account: { opens: 'account switch', label: () => words.enableAccount, can: words.can.enableAccount },
  top_up_account: { opens: 'wallet', label: () => words.topUp, can: words.can.topUp },
  raise_account_limit: { opens: 'account form', label: raise, can: words.can.raiseAccountLimit },
};

interface Named {
  id: number;
  name: string;
}

/** A key that refuses, or soon will, and its owner. */
export interface RefusingKey extends Named {
  owner: Named;
}

interface Row {
  token_id?: number | null;
  token_name?: string | null;
  user_id?: number | null;
  username?: string | null;
}

/** The key of a row; nothing if no key of this service was sent. */
export function keyOfRow({ token_id, token_name, user_id, username }: Row): RefusingKey | undefined {
  if (token_id == null || user_id == null) return undefined;
  return { id: token_id, name: token_name ?? '', owner: { id: user_id, name: username ?? '' } };
}

/** A button, or who can do it. */
type Offer = { opens: Opens; label: string } | { sentence: string };

/** What a reader is offered to end a refusal. Nothing if a newer server knows more remedies. */
export function offerOf(remedy: Remedy): Offer | undefined {
  const entry = textOf(table, remedy.action);
  if (!entry) return undefined;
  if (remedy.allowed) return { opens: entry.opens, label: entry.label(remedy) };
  const who = textOf(words.who, remedy.by);
  return who && entry.can ? { sentence: entry.can(who) } : undefined;
}

/** What lets a request pass, and who can do it, in words. Nothing if a newer server knows more remedies. */
export function remedyText(remedy: Remedy): string | undefined {
  const label = textOf(table, remedy.action)?.label(remedy);
  return label && (textOf(words.by, remedy.by)?.(label) ?? label);
}
