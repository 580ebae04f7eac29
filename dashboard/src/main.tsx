import './theme/mantine.css';
import '@mantine/notifications/styles.layer.css';
import './theme/global.css';
import { createRoot } from 'react-dom/client';
// Texts need them before the app is there. Imported here, they are in this file and not in files of their own.
import './format/money';
import './format/space';
import { locale } from './format/locale';
import { loadTexts } from './texts';

/** Loads the texts first, because modules read them when they load. */
async function start(root: HTMLElement) {
  document.documentElement.lang = locale;
  await loadTexts();
  const { App, preload } = await import('./App');
  preload(window.location.pathname);
  createRoot(root).render(<App />);
}

/** In all languages, because the texts of the user's language may be what is missing. */
const NOT_LOADED = 'Keymeter didn’t load. Reload the page. 加载失败，请重新加载页面。';

const PAUSE_MS = 3000;

/** If the server is away, loads the page again when it is back. */
async function reloadAfterOutage() {
  if (await isServerThere()) return;
  do await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  while (!(await isServerThere()));
  window.location.reload();
}

async function isServerThere(): Promise<boolean> {
  try {
    return (await fetch('/api/status')).ok;
  } catch {
    return false;
  }
}

const root = document.getElementById('root');
if (root) {
  start(root).catch((error) => {
    root.textContent = NOT_LOADED;
    reloadAfterOutage();
    throw error;
  });
}
