import type { Texts } from '..';

export const limits: Texts['limits'] = {
  hint: '以美元计。留空表示不限。',
  change: {
    remove: { day: '取消每日限额', week: '取消每周限额', month: '取消每月限额' },
    nothing: '请输入或取消至少一项限额。',
  },
  zero: '限额为 $0 时，所有请求都会被拒绝。',
  reachedFirst: {
    week: '每周限额会先用完，更高的每日限额不起作用。',
    month: '每月限额会先用完，更高的每日或每周限额不起作用。',
  },
  periods: { day: '每日（美元）', week: '每周（美元）', month: '每月（美元）' },
  presets: {
    label: '常用限额',
    day: (usd: string) => `每日 ${usd}`,
    week: (usd: string) => `每周 ${usd}`,
    month: (usd: string) => `每月 ${usd}`,
  },
  alreadyUsed: {
    day: (usd: string) => `今天已用 ${usd}。今天结束之前，请求都会被拒绝。`,
    week: (usd: string) => `本周已用 ${usd}。本周结束之前，请求都会被拒绝。`,
    month: (usd: string) => `本月已用 ${usd}。本月结束之前，请求都会被拒绝。`,
  },
  rates: {
    requests_per_minute: '每分钟请求数',
    tokens_per_minute: '每分钟 Token 数',
    concurrency: '并发请求数',
  },
  concurrencyHint: '已开始但尚未结束的请求。',
  errors: {
    large: (most: string) => `最多 ${most}。`,
    notANumber: '请输入整数，或留空表示不限。',
  },
  bar: {
    used: {
      day: (used: string, limit: string) => `今日 ${used} / ${limit}`,
      week: (used: string, limit: string) => `本周 ${used} / ${limit}`,
      month: (used: string, limit: string) => `本月 ${used} / ${limit}`,
    },
    reserved: (usd: string) => `预扣 ${usd}`,
    share: {
      day: (percent: number) => `每日限额已用 ${percent}%`,
      week: (percent: number) => `每周限额已用 ${percent}%`,
      month: (percent: number) => `每月限额已用 ${percent}%`,
    },
    usedUp: '已用完',
    resetsIn: (time: string) => `${time}后重置`,
    resetsNow: '正在重置',
    units: (used: string, limit: string, time: string) =>
      `已用 ${used} / ${limit} 额度单位。将于 ${time} 重置。`,
  },
  refused: {
    key: '在此之前，此密钥的请求都会被拒绝。',
    account: '在此之前，此账户所有密钥的请求都会被拒绝。',
  },
  rateFacts: {
    requests_per_minute: (limit: string) => `每分钟请求数：${limit}`,
    tokens_per_minute: (limit: string) => `每分钟 Token 数：${limit}`,
    concurrency: (limit: string) => `并发请求数：${limit}`,
  },
  rateRefusals: '超出限制的请求会被网关拒绝。',
};
