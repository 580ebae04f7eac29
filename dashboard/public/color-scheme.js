// Sets the colour scheme before the first paint, so that the page does not flash.
// src/theme/colorScheme.ts uses the same storage key.
(() => {
  let chosen = 'auto';
  try {
    chosen = localStorage.getItem('keymeter-color-scheme') ?? 'auto';
  } catch {
    // The browser blocks storage. Use the colour scheme of the system.
  }
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : system;
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme);
})();
