import { useGateways } from '../../api/adminGateways';
import { useUsers } from '../../api/adminUsers';
import { isAdministrator, useUser } from '../../api/session';
import { useGroups, useModels } from '../../api/tokenOptions';
import { texts } from '../../texts';
import { Checklist } from './Checklist';
import { remember, useRemembered } from './remembered';
import { administratorSteps } from './steps';

const words = texts.onboarding.administrator;

const actions = {
  gateway: { label: words.gatewayAction, href: '/admin/gateways' },
  groups: { label: words.settingsAction, href: '/admin/settings' },
  models: { label: words.settingsAction, href: '/admin/settings' },
  users: { label: words.usersAction, href: '/admin/users' },
};

/** The first steps of an administrator. Nothing for others, when all is done, or after it is dismissed. */
export function AdministratorChecklist({ className }: { className?: string }) {
  const user = useUser();
  const dismissed = useRemembered('administrator-steps-dismissed', user.id);
  if (!isAdministrator(user) || dismissed) return null;
  return <Steps className={className} userId={user.id} />;
}

function Steps({ userId, className }: { userId: number; className?: string }) {
  const gateways = useGateways().data;
  const groups = useGroups().data;
  const models = useModels().data;
  const users = useUsers({ keyword: '' }, 0).data;
  if (!gateways || !groups || !models || !users) return null;

  const steps = administratorSteps({ gateways, groups: Object.keys(groups), models, users: users.total });
  if (steps.every((step) => step.done)) return null;
  return (
    <Checklist
      title={words.title}
      steps={steps}
      texts={words.steps}
      actions={actions}
      className={className}
      onDismiss={() => remember('administrator-steps-dismissed', userId)}
    />
  );
}
