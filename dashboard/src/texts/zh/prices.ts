import type { Texts } from '..';

export const prices: Texts['prices'] = {
  title: '模型价格',
  description: '各模型的价格，单位为每百万 Token 的美元金额。',
  search: '按模型筛选',
  columns: {
    model: '模型',
    prompt: '输入',
    completion: '输出',
    cached: '缓存输入',
    cache_write: '缓存写入',
    request: '每次请求',
    prompts: {
      at_most: (tokens: string) => `输入不超过 ${tokens} Token`,
      more_than: (tokens: string) => `输入超过 ${tokens} Token`,
    },
  },
  star: '以 * 结尾的名称代表所有以此开头的模型，以最长的匹配名称为准。',
  inForce: (since: string) => `自 ${since} 起生效。`,
  multiplied: '费用会乘以令牌所属分组的倍率。',
  groups: (groups: string) => `你的分组：${groups}。`,
  empty: {
    title: '暂无价格',
    hint: '有了价格，网关只需发送 Token 数量而无需发送金额，由服务器计算每个请求的费用。管理员用 keymeter prices set 命令设置价格。',
  },
  add: {
    title: '添加价格',
    hint: '价格写在 JSON 文件中，单位为每百万 Token 的美元金额。新文件会替换原来的文件，请从现有的文件开始：keymeter prices show > prices.json。所有服务器立即使用新文件，无需重启。',
    file: '写入 prices.json',
    copyFile: '复制价格',
    command: '然后设置此文件',
    copyCommand: '复制命令',
  },
};
