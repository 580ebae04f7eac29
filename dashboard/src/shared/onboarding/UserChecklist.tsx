import { useActivity } from '../../api/activity';
import { isAdministrator, useUser } from '../../api/session';
import { texts } from '../../texts';
import { Checklist } from './Checklist';
import { remember, useRemembered } from './remembered';
import { userSteps } from './steps';

const words = texts.onboarding.user;

const actions = {
  create: { label: words.createAction, href: '/keys?create' },
  copy: { label: words.copyAction, href: '/keys' },
};

interface Props {
  /** The number of keys. Absent while loading. */
  keys: number | undefined;
  className?: string;
}

/** Whether the first steps are shown: until the first request, or until they are dismissed. Administrators have their own. */
export function useShowsUserChecklist(): boolean {
  const user = useUser();
  const dismissed = useRemembered('user-steps-dismissed', user.id);
  return !isAdministrator(user) && user.request_count === 0 && !dismissed;
}

/** From no key to the first request. */
export function UserChecklist({ keys = 0, className }: Props) {
  const { id, request_count } = useUser();
  const copiedHere = useRemembered('key-copied', id);
  const activity = useActivity(0);
  const wasRead = activity.data?.items.some(({ action }) => action === 'token.key_revealed') ?? false;
  return (
    <Checklist
      title={words.title}
      steps={userSteps({ keys, copied: copiedHere || wasRead, requests: request_count })}
      texts={words.steps}
      actions={actions}
      className={className}
      onDismiss={() => remember('user-steps-dismissed', id)}
    />
  );
}
