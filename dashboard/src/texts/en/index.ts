import { adminAudit } from './adminAudit';
import { adminBulk } from './adminBulk';
import { adminGateways } from './adminGateways';
import { adminHome } from './adminHome';
import { adminImports } from './adminImports';
import { adminKey } from './adminKey';
import { adminLists } from './adminLists';
import { adminRequests } from './adminRequests';
import { adminSettings } from './adminSettings';
import { adminSystem } from './adminSystem';
import { adminTokens } from './adminTokens';
import { adminUsage } from './adminUsage';
import { adminUser } from './adminUser';
import { adminUsers } from './adminUsers';
import { commands } from './commands';
import { common } from './common';
import { deletedKeys } from './deletedKeys';
import { enablement } from './enablement';
import { errors } from './errors';
import { key } from './key';
import { keys } from './keys';
import { limits } from './limits';
import { onboarding } from './onboarding';
import { overview } from './overview';
import { prices } from './prices';
import { profile } from './profile';
import { reference } from './reference';
import { requests } from './requests';
import { shell } from './shell';
import { signIn } from './signIn';
import { snippets } from './snippets';
import { usage } from './usage';

export const en = {
  common,
  errors,
  shell,
  commands,
  signIn,
  onboarding,
  overview,
  keys,
  deletedKeys,
  key,
  limits,
  snippets,
  usage,
  prices,
  profile,
  reference,
  requests,
  enablement,
  adminHome,
  adminLists,
  adminUsers,
  adminBulk,
  adminUser,
  adminRequests,
  adminTokens,
  adminKey,
  adminUsage,
  adminGateways,
  adminAudit,
  adminImports,
  adminSettings,
  adminSystem,
};
