import type { Texts } from '..';

export const commands: Texts['commands'] = {
  search: '搜索',
  title: '搜索页面、密钥和操作',
  placeholder: '前往页面、密钥或请求…',
  placeholderAdministrator: '前往页面、密钥、用户或请求…',
  results: '结果',
  pages: '页面',
  actions: '操作',
  keys: '你的密钥',
  keysOfOthers: '其他用户的密钥',
  users: '用户',
  requests: '请求',
  findRequest: (id: string) => `查找请求“${id}”`,
  searching: '正在搜索…',
  nothing: '没有找到。请换个词试试。',
  shortcuts: {
    title: '键盘快捷键',
    palette: '前往页面、密钥或操作',
    search: '在此页搜索',
    create: '创建密钥',
    undo: '撤销通知中的操作',
    help: '显示快捷键',
    close: '关闭对话框',
    singleKeys: '启用单键快捷键',
    singleKeysHint: '如果你用语音输入文字，请关闭。在输入框中输入时，快捷键不会触发。',
  },
};
