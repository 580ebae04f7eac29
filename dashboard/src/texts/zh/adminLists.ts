import { limits } from '../../api/serverLimits';
import type { Texts } from '..';

export const adminLists: Texts['adminLists'] = {
  keywordTooShort: `请至少输入 ${limits.search_characters} 个字符。`,
  alsoSearch: '在其他列表中搜索：',
  noUsers: '没有匹配的用户',
  clearSelection: '清除选择',
  userNumber: (id: number) => `用户 ${id}`,
  keyNumber: (id: number) => `密钥 ${id}`,
  pageOutOfRange: { title: '此页没有内容', first: '回到第一页' },
  noMatches: { title: '没有找到', hint: '请换一组筛选条件，或清除筛选。', clear: '清除筛选' },
};
