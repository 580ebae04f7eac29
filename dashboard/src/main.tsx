import './theme/mantine.css';
import '@mantine/notifications/styles.layer.css';
import './theme/global.css';
import { createRoot } from 'react-dom/client';
import { locale } from './format/locale';
import { loadTexts } from './texts';

/** Loads the texts first, because modules read them when they load. */
async function start(root: HTMLElement) {
  document.documentElement.lang = locale;
  await loadTexts();
  const { App } = await import('./App');
  createRoot(root).render(<App />);
}

const root = document.getElementById('root');
if (root) start(root);
