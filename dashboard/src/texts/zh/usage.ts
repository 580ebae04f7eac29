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
};
