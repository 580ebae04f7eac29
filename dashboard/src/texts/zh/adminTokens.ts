import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import type { Texts } from '..';

const listed = formatInteger(limits.listed_tokens);

export const adminTokens: Texts['adminTokens'] = {
  title: '全部令牌',
  description: '所有用户的令牌。只有所有者能查看密钥。',
  keyHint: `请至少输入开头或结尾的 ${limits.key_hint_characters} 个字符。`,
  truncated: `令牌超过 ${listed} 个。筛选和排序只针对最新的 ${listed} 个。`,
  owner: '所有者',
  allOwners: '全部所有者',
  columns: {
    name: '令牌',
    owner: '所有者',
    status: '状态',
    quota: '额度',
    expires: '过期时间',
    lastUsed: '上次使用',
  },
  neverUsed: '从未使用',
  switch: (name: string) => `允许 ${name} 的请求`,
  audit: (name: string) => `${name} 的审计日志`,
  empty: { title: '暂无令牌', hint: '用户创建令牌后会显示在这里。' },
};
