import type { Texts } from '..';

export const adminUsage: Texts['adminUsage'] = {
  title: '全部用量',
  requests: '全部请求明细',
  description: '所有用户的全部密钥的消费，包括已删除的密钥。',
  user: '用户',
  allUsers: '全部用户',
  gateway: '网关',
  allGateways: '全部网关',
};
