// Glossary. One word for one thing, as people say it who use new-api and similar gateways:
//
//   API key        密钥                   quota         额度
//   wallet         钱包                      balance       余额
//   top up         充值                      spend         消费
//   charge         扣费                      reservation   预扣
//   group          分组                      channel       渠道
//   gateway        网关                      credential    凭证
//   access token   访问令牌                  model token   Token
//   limit          限额 (money), 上限 (count) rate limit    速率限制
//   request        请求 (call), 申请 (ask)   API access    API 权限
//   administrator  管理员                    root          超级管理员
//   used up        已用完                    audit log     审计日志
//   dashboard      控制台                    allowed IPs   IP 白名单
//   account        账户                      last 7 days   最近 7 天
//   ledger         账本                      invariant     不变量
//   server         服务器                    standby       备库
//   backup         备份                      job           任务
//
// A space separates Chinese from Latin letters and digits, and no two Chinese characters: `typeset` removes it around values
// that are Chinese. Readers are addressed as 你.
import type { Texts } from '..';
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
import { typeset } from './typeset';
import { usage } from './usage';

export const zh: Texts = typeset({
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
});
