import { limits } from '../../api/serverLimits';
import type { Texts } from '..';

export const adminUser: Texts['adminUser'] = {
  title: '用户',
  back: '用户',
  notFound: {
    title: '找不到用户',
    hint: '此用户不存在，可能已被删除。审计日志仍保留其记录。',
    toUsers: '查看全部用户',
    toAudit: '打开审计日志',
  },
  changeWallet: '调整钱包',
  facts: {
    title: '用户信息',
    role: '角色',
    group: '分组',
    access: 'API 权限',
    limit: '密钥上限',
    limits: '限额',
    created: '创建时间',
    email: '邮箱',
    none: '无',
    requests: '请求数',
  },
  wallet: {
    title: '钱包',
    spent: (usd: string) => `累计消费 ${usd}`,
    history: '钱包调整记录',
    columns: { change: '变动', before: '调整前', after: '调整后', by: '操作者', time: '时间', note: '备注' },
    empty: { title: '暂无调整', hint: '管理员增加或扣减的金额会显示在这里。' },
  },
  spend: {
    title: `最近 ${limits.default_report_days} 天消费`,
    all: '全部用量',
  },
  keys: {
    title: '密钥',
    all: (count: number) => `全部 ${count} 个密钥`,
    empty: { title: '没有密钥', hint: '此用户尚未创建密钥。' },
  },
  changes: {
    title: '对此用户及其密钥的修改',
    all: '审计日志',
    empty: { title: '暂无修改', hint: '任何人对此用户及其密钥所做的修改会显示在这里。' },
  },
  activity: {
    title: '此用户的操作',
    all: '审计日志',
    empty: { title: '暂无活动', hint: '此用户尚未进行任何操作。' },
  },
};
