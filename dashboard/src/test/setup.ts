import { vi } from 'vitest';

// Node 20 has no navigator, and later versions use the language of the machine. Tests with a DOM have a fixed one.
if (typeof document === 'undefined') vi.stubGlobal('navigator', { languages: ['en-US'] });

// Imported here, after the language of the browser is set.
const { loadTexts } = await import('../texts');
await loadTexts('en');
