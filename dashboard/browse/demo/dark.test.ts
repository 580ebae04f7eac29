import { walkThroughEveryPage } from './walk';

walkThroughEveryPage('dark', 'dejavu');
