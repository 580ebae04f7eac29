import { walkThroughEveryPage } from './walk';

walkThroughEveryPage('light', 'noto');
