import { checkEveryPage } from './checkEveryPage';

checkEveryPage({ colorScheme: 'dark', fonts: 'dejavu', locale: 'zh-CN' });
