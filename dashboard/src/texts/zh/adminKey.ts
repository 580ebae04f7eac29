import type { Texts } from '..';

export const adminKey: Texts['adminKey'] = {
  back: '全部密钥',
  notFound: '此密钥不存在，可能已被删除。审计日志仍保留其记录。',
  toAudit: '打开审计日志',
  openOwn: '在我的密钥中打开',
  created: (key: string, owner: string) => `已创建“${key}”。只有 ${owner} 能查看密钥内容。`,
  replace: {
    explanation: (owner: string) =>
      `密钥内容会更换，额度、限额和历史都不变。只有 ${owner} 能查看新密钥。旧密钥还能用多久由你决定。`,
    done: (key: string, owner: string) => `已更换“${key}”。只有 ${owner} 能查看新密钥。`,
  },
  delete: {
    title: (key: string) => `删除“${key}”？`,
    warning: (owner: string) => `使用此密钥的程序会立即停止工作。在一段时间内，${owner} 可以恢复它。`,
    done: (key: string) => `已删除“${key}”。`,
  },
  history: {
    title: '历史记录',
    all: '审计日志',
    empty: { title: '暂无记录', hint: '对此密钥的修改会显示在这里。' },
  },
};
