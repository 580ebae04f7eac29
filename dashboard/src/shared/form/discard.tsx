import { Button, Group, Modal } from '@mantine/core';
import { createContext, useCallback, useRef, useState } from 'react';
import { texts } from '../../texts';
import { useBackCloses } from '../useBackCloses';

interface Discarding {
  /** `useSendForm` says here how to find out whether something was typed. Returns what ends that. */
  watch: (isDirty: () => boolean) => () => void;
  /** Asks first if something was typed. */
  requestClose: () => void;
  /** Says whether the form has a dialog of its own open, which Esc closes instead. */
  setNested: (isNested: boolean) => void;
}

/** What the dialog around a form offers to it. */
export const DiscardContext = createContext<Discarding | undefined>(undefined);

const words = texts.common.discard;

/** Asks before a dialog closes in whose form something was typed. Back closes it, too. */
export function useDiscard(opened: boolean, onClose: () => void) {
  // Asked when the dialog is about to close, because a state would be late for what was typed just before.
  const isDirty = useRef(nothingTyped);
  const [isAsking, setAsking] = useState(false);
  const [isNested, setNested] = useState(false);

  const watch = useCallback((watched: () => boolean) => {
    isDirty.current = watched;
    return () => {
      isDirty.current = nothingTyped;
    };
  }, []);

  function requestClose() {
    // After the event: Esc would close the question, too.
    if (isDirty.current()) setTimeout(() => setAsking(true));
    else onClose();
  }

  function discard() {
    setAsking(false);
    onClose();
  }

  const keep = () => setAsking(false);
  useBackCloses(opened, requestClose);
  useBackCloses(isAsking, keep);
  const question = (
    <Modal opened={isAsking} onClose={keep} title={words.title} size="sm">
      <Group justify="flex-end" mt="xs">
        <Button variant="default" onClick={keep} data-autofocus>
          {words.keep}
        </Button>
        <Button color="red" onClick={discard}>
          {words.discard}
        </Button>
      </Group>
    </Modal>
  );
  return {
    context: { watch, requestClose, setNested },
    question,
    /** For the dialog. */
    props: { onClose: requestClose, closeOnEscape: !isAsking && !isNested },
  };
}

const nothingTyped = () => false;
