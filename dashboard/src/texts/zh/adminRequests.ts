import type { Texts } from '..';

export const adminRequests: Texts['adminRequests'] = {
  title: '权限申请',
  description: '申请 API 权限的用户。',
  pendingCount: (count: string) => `${count} 个待处理`,
  state: '状态',
  states: { pending: '待处理', approved: '已批准', refused: '已拒绝', all: '全部' },
  requested: '申请于',
  answered: '处理于',
  noReason: '未填写理由。',
  note: '答复',
  approve: '批准',
  refuse: '拒绝',
  empty: {
    pending: { title: '没有待处理的申请', hint: '新的申请会显示在这里。' },
    other: { title: '没有申请', hint: '申请会显示在这里。' },
  },
  dialog: {
    approveTitle: (username: string) => `批准 ${username} 的申请？`,
    refuseTitle: (username: string) => `拒绝 ${username} 的申请？`,
    approveHint: '对方可以立即创建令牌。令牌从其钱包中消费。',
    refuseHint: '对方无法创建令牌，但可以再次申请。',
    note: '备注',
    noteHint: '可选。对方可以看到。',
    approved: (username: string) => `已批准 ${username} 的申请。`,
    refused: (username: string) => `已拒绝 ${username} 的申请。`,
  },
};
