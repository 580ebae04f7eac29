import { DARK } from '../harness/looks';
import { checkEveryPage } from './checkEveryPage';

checkEveryPage(DARK);
