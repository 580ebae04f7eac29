import { checkEveryPage } from './checkEveryPage';

checkEveryPage({ colorScheme: 'light', fonts: 'noto', locale: 'en-US' });
