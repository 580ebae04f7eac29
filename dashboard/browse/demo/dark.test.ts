import { checkEveryPage } from './checkEveryPage';

checkEveryPage('dark', 'dejavu');
