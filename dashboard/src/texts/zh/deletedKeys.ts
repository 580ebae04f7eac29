import { formatInteger } from '../../format/locale';
import type { Texts } from '..';

export const deletedKeys: Texts['deletedKeys'] = {
  title: '已删除的密钥',
  description: '恢复后，密钥与删除前一样，额度和限额不变。',
  columns: { name: '名称', deleted: '删除时间', until: '可恢复至' },
  restore: '恢复',
  restoreOne: (name: string) => `恢复 ${name}`,
  restored: (name: string) => `已恢复“${name}”`,
  works: '持有其密钥的程序又可以使用它了。',
  ifLeaked: '如果密钥已泄露，请立即更换。',
  show: '查看此密钥',
  undone: (keys: number) => `已恢复 ${formatInteger(keys)} 个密钥。`,
  someRefused: (refused: string, all: number, sentence: string) =>
    `${formatInteger(all)} 个密钥中有 ${refused} 个未能恢复。${sentence}`,
  empty: {
    title: '没有已删除的密钥',
    hint: '你删除的密钥会在这里保留一段时间，期间可以恢复。',
  },
};
