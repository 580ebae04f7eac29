import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import type { Texts } from '..';

export const overview: Texts['overview'] = {
  title: '概览',
  description: '密钥的消费情况，以及需要关注的密钥。',
  wallet: {
    title: '钱包',
    spent: (usd: string) => `累计消费 ${usd}`,
    empty: {
      user: '余额已用完。请联系管理员充值。',
      administrator: '余额已用完。请联系超级管理员充值。',
      root: '余额已用完。',
    },
    topUp: '充值',
  },
  today: '今日消费',
  todayIn: (zone: string) => `今日消费（${zone}）`,
  week: `最近 ${limits.overview_days} 天消费`,
  requests: (count: number) => `${formatInteger(count)} 次请求`,
  tokens: (count: string) => `${count} Token`,
  spend: {
    title: '每日消费',
    columns: {
      day: '日期',
      usd: '消费',
      requests: '请求数',
      tokens: 'Token',
      input: '输入 Token',
      output: '输出 Token',
    },
  },
  keys: {
    title: '密钥',
    all: '查看全部密钥',
  },
  attention: {
    title: '需要关注',
    none: '一切正常',
    noneHint: '没有停用、即将过期或额度即将用完的密钥。',
    reasons: {
      expires_soon: { word: '即将过期', sentence: (when: string) => `${when}失效。` },
      nearly_spent: {
        word: '即将用完',
        sentence: (left: string, granted: string) => `${granted} 额度仅剩 ${left}。`,
      },
      limit_reached: {
        word: '已达限额',
        sentence: {
          day: (limit: string, when: string) => `每日限额 ${limit} 已用完，${when}恢复可用。`,
          week: (limit: string, when: string) => `每周限额 ${limit} 已用完，${when}恢复可用。`,
          month: (limit: string, when: string) => `每月限额 ${limit} 已用完，${when}恢复可用。`,
        },
        never: {
          day: (limit: string) => `每日限额为 ${limit}，所有请求都会被拒绝。`,
          week: (limit: string) => `每周限额为 ${limit}，所有请求都会被拒绝。`,
          month: (limit: string) => `每月限额为 ${limit}，所有请求都会被拒绝。`,
        },
        other: '有一项限额已用完。',
      },
      exhausted: {
        word: '已用完',
        sentence: (granted: string) => `${granted} 额度已用完。`,
        neverHad: '它没有额度。',
      },
      group_not_allowed: { word: '分组不可用', sentence: '你不能再使用它的分组。' },
      expired: { word: '已过期', sentence: (when: string) => `已于 ${when}失效。` },
      exceeds_wallet: {
        word: '超出余额',
        sentence: (left: string) => `剩余额度 ${left}，但钱包余额更少。`,
      },
      other: { word: '请检查', sentence: '此密钥需要关注。' },
    },
    emptyWallet: {
      name: '钱包',
      word: '已用完',
      sentence: '钱包充值之前，所有密钥都无法使用。',
    },
    stoppedAccount: { name: '账户', word: '已停用', sentence: '你的密钥目前无法使用。' },
    accountLimit: {
      name: '账户',
      word: '已达限额',
      sentence: (when: string) => `账户限额将于 ${when}重置，在此之前所有密钥都无法使用。`,
      never: '账户限额提高之前，所有密钥都无法使用。',
    },
    more: (count: number) => `另有 ${formatInteger(count)} 个密钥需要关注。`,
    show: { 3: '查看已过期的密钥', 4: '查看已用完的密钥', all: '查看全部密钥' },
  },
  firstRun: {
    title: '创建你的第一个密钥',
    hint: '程序需要密钥才能调用 API。密钥的额度就是程序的消费上限。',
    action: '创建密钥',
  },
};
