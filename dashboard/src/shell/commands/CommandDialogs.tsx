import type { CommandDialog, useCommands } from './useCommands';

/** The dialogs that have been loaded. They stay mounted, so that they close with a transition. */
export function CommandDialogs({ commands }: { commands: ReturnType<typeof useCommands> }) {
  const { loaded, opened, open, close } = commands;
  return Object.entries(loaded).map(([name, Dialog]) => (
    <Dialog key={name} opened={opened === (name as CommandDialog)} onClose={close} onOpen={open} />
  ));
}
