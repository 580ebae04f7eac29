import { formatInteger } from '../../format/locale';
import type { Texts } from '..';

export const usage: Texts['usage'] = {
  title: '用量',
  description: '你的所有令牌的消费，包括已删除的令牌。',
  byDay: '按日消费',
  spent: '消费',
  requests: '请求数',
  tokens: 'Token 数',
  ranking: '令牌消费排名',
  rank: '排名',
  key: '令牌',
  share: '占比',
  percent: (percent: string) => `占消费的 ${percent}%`,
  hiddenRanks: (shown: string, hidden: string) =>
    `这里是消费最高的 ${shown} 项，其余 ${hidden} 项见导出文件。`,
  empty: { title: '暂无用量', hint: '这些天没有使用任何令牌。' },
  refused: {
    title: '被拒绝的请求',
    description: '因令牌或账户的限制或设置而被拒绝的请求，按原因统计。',
    total: (count: number) => `有 ${formatInteger(count)} 个请求因令牌或账户的限制或设置而被拒绝。`,
    empty: '这些天没有请求被拒绝。',
    reason: '原因',
    reasons: {
      token_disabled: '令牌已禁用',
      token_expired: '令牌已过期',
      user_disabled: '账户已禁用',
      group_not_allowed: '分组不再可用',
      model_not_allowed: '不允许使用该模型',
      ip_not_allowed: '不允许使用该 IP 地址',
      token_exhausted: '令牌额度已用尽',
      token_quota_insufficient: '令牌剩余额度不足',
      user_quota_insufficient: '钱包余额不足',
      token_period_exceeded: '已达到令牌的每日、每周或每月限额',
      user_period_exceeded: '已达到账户的每日、每周或每月限额',
      rate_limited: '已达到令牌的速率限制',
      too_many_concurrent: '同时进行的请求过多',
    },
  },
};
