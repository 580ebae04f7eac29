import { LIGHT } from '../harness/looks';
import { checkEveryPage } from './checkEveryPage';

checkEveryPage(LIGHT);
