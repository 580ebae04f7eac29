import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import type { Texts } from '..';

const listed = formatInteger(limits.listed_tokens);

export const adminTokens: Texts['adminTokens'] = {
  title: '全部密钥',
  description: '所有用户的密钥。只有所有者能查看密钥内容。',
  keyHint: `请至少输入开头或结尾的 ${limits.key_hint_characters} 个字符。`,
  truncated: `密钥超过 ${listed} 个。筛选和排序只针对最新的 ${listed} 个。`,
  owner: '所有者',
  allOwners: '全部所有者',
  columns: {
    name: '密钥',
    owner: '所有者',
    status: '状态',
    quota: '额度',
    expires: '过期时间',
    lastUsed: '上次使用',
  },
  neverUsed: '从未使用',
  switch: (name: string) => `允许 ${name} 的请求`,
  audit: (name: string) => `${name} 的审计日志`,
  empty: { title: '暂无密钥', hint: '用户创建密钥后会显示在这里。' },
};
