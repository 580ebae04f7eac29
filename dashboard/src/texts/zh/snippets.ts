import type { Texts } from '..';

export const snippets: Texts['snippets'] = {
  title: '使用此密钥',
  baseUrl: 'Base URL',
  copyBaseUrl: '复制 Base URL',
  languages: '编程语言',
  languageNames: { curl: 'curl', python: 'Python', node: 'Node.js' },
  example: '示例',
  copy: '复制示例',
  replaceKey: (placeholder: string) => `请把 ${placeholder} 换成密钥。`,
  install: (command: string) => `请先安装客户端：${command}`,
  checksKey: '此示例查询密钥的剩余额度。你的程序应把请求发往网关。',
  askForGateway: '网关地址请向管理员索取。',
  setGateway: '要在此显示网关地址，请设置网关的 Base URL。',
  toSettings: '系统设置',
};
