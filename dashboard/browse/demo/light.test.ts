import { checkEveryPage } from './checkEveryPage';

checkEveryPage('light', 'noto');
