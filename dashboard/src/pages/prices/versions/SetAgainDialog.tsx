import type { RefObject } from 'react';
import { type PriceVersion, useSetPrices } from '../../../api/adminPrices';
import { hasCode } from '../../../api/error';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { texts } from '../../../texts';

const words = texts.prices;

interface Props {
  version: PriceVersion;
  /** The number of the version that it replaces. */
  inForce: number;
  opened: boolean;
  focusAfterSuccess: RefObject<HTMLElement | null>;
  onClose: () => void;
}

/** Sets a former version again. If rates move far by that, the server says so, and the button accepts it. */
export function SetAgainDialog({ version: { number }, inForce, opened, focusAfterSuccess, onClose }: Props) {
  const set = useSetPrices();
  // Of what it was compared with.
  const needsAcceptance = hasCode(set.error, 'prices_need_acceptance') && set.variables?.replaces === inForce;
  return (
    <ConfirmDialog
      opened={opened}
      title={words.setAgain.title(String(number))}
      actionLabel={needsAcceptance ? words.setAnyway : words.history.setAgain}
      mutation={set}
      variables={{ version: number, replaces: inForce, ...(needsAcceptance && { accept: true }) }}
      successMessage={(list) => words.done(String(list.number))}
      focusAfterSuccess={focusAfterSuccess}
      onClose={onClose}
    >
      {words.setAgain.hint(String(number), String(inForce))}
    </ConfirmDialog>
  );
}
