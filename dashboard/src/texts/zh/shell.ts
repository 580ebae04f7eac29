import type { Texts } from '..';

export const shell: Texts['shell'] = {
  skipToContent: '跳到正文',
  openNavigation: '打开导航',
  closeNavigation: '关闭导航',
  navigation: '主导航',
  administration: '管理',
  account: (name: string) => `账户：${name}`,
  roles: { user: '普通用户', administrator: '管理员', root: '超级管理员' },
  profile: '个人设置',
  signOut: '退出登录',
  colorScheme: { label: '配色', light: '浅色', dark: '深色', auto: '跟随系统' },
  language: { label: '语言 (Language)' },
  connection: {
    unreachable: '无法连接服务器。正在重试；你输入的内容不会丢失。',
    unavailable: '服务器繁忙或正在重启。正在重试；你输入的内容不会丢失。',
  },
  notFound: {
    title: '找不到页面',
    hint: '请检查地址，或返回概览。',
    home: '返回概览',
  },
  notAllowed: {
    title: '仅限管理员',
    hint: '你的账户无法打开此页面。',
  },
  crashed: {
    title: '此页面停止了工作',
    hint: '控制台出错了。请重新加载页面。',
    stale: '控制台可能已更新，或者你已离线。请重新加载页面。',
    reload: '重新加载',
  },
};
