import { LIGHT } from '../harness/looks';
import { checkEveryDialog } from './dialogs/checkEveryDialog';

checkEveryDialog(LIGHT);
