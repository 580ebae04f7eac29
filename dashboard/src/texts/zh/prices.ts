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
  refused: '最新的价格没有生效。请更正设置文件，服务器每分钟会重新读取。',
  empty: {
    title: '暂无价格',
    hint: '有了价格，网关只需发送 Token 数量而无需发送金额，由服务器计算每个请求的费用。管理员在设置文件的 [prices] 部分添加价格。',
  },
  add: {
    title: '添加价格',
    hint: '价格位于设置文件（keymeter --config FILE）的 [prices] 部分，单位为每百万 Token 的美元金额。服务器每分钟会重新读取，无需重启。所有服务器需要使用同一份价格。',
    setting: '写入设置文件',
    copySetting: '复制设置',
    command: '或转换 LiteLLM、models.dev 或 new-api 的价格表',
    copyCommand: '复制命令',
  },
};
