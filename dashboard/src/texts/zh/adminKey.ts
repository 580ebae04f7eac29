import type { Texts } from '..';

export const adminKey: Texts['adminKey'] = {
  back: '全部密钥',
  notFound: '此密钥不存在，可能已被删除。审计日志仍保留其记录。',
  toAudit: '打开审计日志',
  history: {
    title: '历史记录',
    all: '审计日志',
    empty: { title: '暂无记录', hint: '对此密钥的修改会显示在这里。' },
  },
};
