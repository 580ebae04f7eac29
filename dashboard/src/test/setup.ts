import { vi } from 'vitest';

// Node 20 has no navigator, and later ones speak the language of the machine.
vi.stubGlobal('navigator', { languages: ['en-US'] });
