import { useState } from 'react';
import { useCreateTokenOf, useUpdateAnyToken } from '../../../api/adminTokenChanges';
import { type TokenChanges, useCreateToken, useUpdateToken } from '../../../api/tokenChanges';
import type { Token, VersionedToken } from '../../../api/tokens';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { type Difference, differences } from './conflict/differences';
import { changesOf, fieldsOf } from './draft';
import type { Draft } from './fields';
import { useOtherOwner } from './owner';

interface Options {
  /** The token as the form read it. Absent for a new one. */
  known: VersionedToken | undefined;
  onCreated: (token: Token) => void;
  onClose: () => void;
}

/** Somebody else changed the token while its form was open. Nothing is saved yet. */
export interface Conflict {
  theirs: VersionedToken;
  differing: Difference[];
  saveMine: () => void;
  /** Back to the form. */
  close: () => void;
}

/** Saves a valid draft. A new token gets all fields, an existing one only the changed fields. */
export function useSaveKey({ known, onCreated, onClose }: Options) {
  const other = useOtherOwner();
  const own = { create: useCreateToken(), update: useUpdateToken() };
  const others = { create: useCreateTokenOf(other?.id ?? 0), update: useUpdateAnyToken() };
  const { create, update } = other ? others : own;
  const [conflict, setConflict] = useState<Conflict>();
  const closeConflict = () => setConflict(undefined);

  /** Sends what was changed in `original`, if nobody has changed `latest`. */
  function send(changes: TokenChanges, original: VersionedToken, latest: VersionedToken) {
    update.mutate(
      { known: latest, changes },
      {
        onSuccess: (updated) => {
          if ('saved' in updated) {
            notifySuccess(texts.keys.form.saved);
            onClose();
            return;
          }
          const { theirs } = updated;
          const differing = differences(original.data, theirs.data, changes);
          const saveMine = () => {
            closeConflict();
            send(changes, original, theirs);
          };
          // The version also changes with what no form shows, such as the end of an old key.
          if (differing.length === 0) saveMine();
          else setConflict({ theirs, differing, saveMine, close: closeConflict });
        },
      },
    );
  }

  function save(draft: Draft) {
    const now = Math.floor(Date.now() / 1000);
    if (!known) {
      create.mutate(fieldsOf(draft, now), { onSuccess: onCreated });
      return;
    }
    const changes = changesOf(draft, known.data, now);
    if (Object.keys(changes).length === 0) onClose();
    else send(changes, known, known);
  }

  const { isPending, error, reset } = known ? update : create;
  return { save, conflict, isPending, error, reset };
}
