import type { Outcome } from '../../../api/changeMany';
import { type ChosenTokens, countOf } from '../../../api/chosenTokens';
import { type Scope, type TokenSet, useChangeMany } from '../../../api/manyTokens';
import { FormModal } from '../../../shared/form/FormModal';
import { notifySuccess } from '../../../shared/notify';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { ChangeKeysForm } from './ChangeKeysForm';
import { ChangeOutcome } from './ChangeOutcome';
import { ChangeProgress } from './ChangeProgress';
import type { ManyAction } from './changeForm';

const words = texts.keys.many;

/** What the dialog does. */
export interface ManyRequest {
  action: ManyAction;
  chosen: ChosenTokens;
}

interface Props {
  scope: Scope;
  /** The dialog is open while this is defined. */
  request: ManyRequest | undefined;
  onDone: () => void;
  onClose: () => void;
}

/** Changes many keys in the same way: asks how, shows how far it is, and says for whom nothing was changed. */
export function ChangeKeysDialog({ scope, request, onDone, onClose }: Props) {
  const shown = useLastDefined(request);
  const change = useChangeMany(scope);
  const { isPending, progress, limit, error, data: outcome } = change;

  function close() {
    if (isPending) return;
    onClose();
    if (outcome) onDone();
  }

  function send(chosen: ChosenTokens, set: TokenSet) {
    // A promise, because the callbacks of `mutate` would not run after the dialog was closed.
    change.mutateAsync({ chosen, set }).then(report, () => {});
  }

  function report(outcome: Outcome) {
    const { changed, faults, isStopped } = outcome;
    if (faults.length > 0 || (isStopped && changed > 0)) return;
    // Nothing was changed: back to the form.
    if (isStopped) return change.reset();
    onClose();
    onDone();
    notifySuccess(words.done(changed));
  }

  function content({ action, chosen }: ManyRequest) {
    const all = countOf(chosen);
    if (outcome) return <ChangeOutcome outcome={outcome} all={all} onClose={close} />;
    if (progress) {
      const goOn = () => change.variables && send(chosen, change.variables.set);
      return (
        <ChangeProgress
          changed={progress.changed}
          all={all}
          limit={limit}
          error={isPending ? null : error}
          onStop={isPending ? change.stop : close}
          onGoOn={goOn}
        />
      );
    }
    return (
      <ChangeKeysForm
        scope={scope}
        action={action}
        chosen={chosen}
        mutation={change}
        onSend={(set) => send(chosen, set)}
        onClose={close}
      />
    );
  }

  return (
    <FormModal
      opened={request !== undefined}
      onClose={close}
      onExitTransitionEnd={change.reset}
      title={shown && words.titles[shown.action](countOf(shown.chosen))}
      withCloseButton={!isPending}
      size="lg"
    >
      {shown && content(shown)}
    </FormModal>
  );
}
