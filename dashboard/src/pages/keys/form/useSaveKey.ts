import { useCreateToken, useUpdateToken } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { changesOf, fieldsOf } from './draft';
import type { Draft } from './fields';

interface Options {
  token: Token | undefined;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

/** Saves a valid draft. A new token gets all fields, an existing one only the changed fields. */
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

  const { isPending, error, reset } = token ? update : create;
  return { save, isPending, error, reset };
}
