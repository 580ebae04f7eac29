import type { Texts } from '..';

export const enablement: Texts['enablement'] = {
  title: 'API 权限',
  description: '管理员开通 API 权限后，你才能创建密钥。',
  form: {
    title: '申请权限',
    again: '再次申请权限',
    hint: '请说明密钥的用途。答复会显示在这里。',
    account: '账户',
    accountHint: '只能为自己的账户申请。',
    reason: '理由',
    reasonHint: '例如使用密钥的项目或团队',
    reasonMissing: '请填写理由。',
    submit: '提交申请',
    sent: '申请已提交。',
  },
  pending: {
    badge: '待处理',
    title: '你的申请正在等待管理员处理',
    hint: '答复会显示在此页。',
  },
  refused: {
    badge: '已拒绝',
    title: '你的申请被拒绝了',
    noNote: '管理员未说明原因。',
  },
  ended: {
    badge: '已终止',
    title: '你的 API 权限已终止',
    hint: '管理员取消了你的权限。你可以再次申请。',
  },
  granted: {
    title: '你已拥有 API 权限',
    hint: '为每个调用 API 的程序创建一个密钥。',
    toKeys: '前往密钥',
    toOverview: '前往概览',
  },
  yourReason: '你的理由',
  note: '管理员的答复',
  requested: '申请于',
  answered: '处理于',
  by: (username: string) => `处理人 ${username}`,
  contact: '有疑问？请联系',
};
