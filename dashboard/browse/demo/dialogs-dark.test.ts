import { DARK } from '../harness/looks';
import { checkEveryDialog } from './dialogs/checkEveryDialog';

checkEveryDialog(DARK);
