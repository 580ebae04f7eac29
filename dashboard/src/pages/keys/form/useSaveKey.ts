import { useCreateToken, useUpdateToken } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { changesOf, type Draft, fieldsOf } from './draft';

interface Options {
  token: Token | undefined;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

/** Sends a sound draft: all of it for a new token, else only what changed. */
export function useSaveKey({ token, onCreated, onClose }: Options) {
  const create = useCreateToken();
  const update = useUpdateToken();

  function saved() {
    notifySuccess(texts.keys.form.saved);
    onClose();
  }

  function save(draft: Draft) {
    const now = Math.floor(Date.now() / 1000);
    if (!token) {
      create.mutate(fieldsOf(draft, now), { onSuccess: onCreated });
      return;
    }
    const changes = changesOf(draft, token, now);
    if (Object.keys(changes).length === 0) onClose();
    else update.mutate({ id: token.id, changes }, { onSuccess: saved });
  }

  const { isPending, error } = token ? update : create;
  return { save, isPending, error };
}
