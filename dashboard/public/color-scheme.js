// Runs before the first paint, so that a chosen colour scheme shows without a flash.
// The key is that of src/theme/colorScheme.ts.
(() => {
  let chosen = 'auto';
  try {
    chosen = localStorage.getItem('keymeter-color-scheme') ?? 'auto';
  } catch {
    // Storage may be forbidden; the system's scheme will do.
  }
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : system;
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme);
})();
