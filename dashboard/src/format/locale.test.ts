import { afterEach, describe, expect, it, vi } from 'vitest';

/** The language and the locale in a browser with these languages and this stored choice. */
async function languageIn(languages: string[], stored: string | null = null) {
  vi.resetModules();
  vi.stubGlobal('navigator', { languages });
  vi.stubGlobal('localStorage', { getItem: () => stored });
  const { language, locale } = await import('./locale');
  return [language, locale];
}

afterEach(() => vi.unstubAllGlobals());

describe('the language', () => {
  it.each([
    [['zh-CN', 'en-US'], 'zh', 'zh-CN'],
    [['fr-FR', 'en-GB', 'zh-CN'], 'en', 'en-GB'],
    [['zh-TW', 'en-US'], 'zh', 'zh-CN'],
    [['zh-Hans-SG'], 'zh', 'zh-Hans-SG'],
    [['zh'], 'zh', 'zh'],
    [['fr-FR'], 'en', 'en'],
    [['en-US@posix', 'zh-CN'], 'zh', 'zh-CN'],
    [[], 'en', 'en'],
  ])('of a browser with %j is %s, with formats of %s', async (languages, language, locale) => {
    expect(await languageIn(languages)).toEqual([language, locale]);
  });

  it.each([
    ['zh', 'zh'],
    ['en', 'en'],
    ['constructor', 'en'],
    [null, 'en'],
  ])('with the stored choice %s is %s', async (stored, language) => {
    expect((await languageIn(['en-US'], stored))[0]).toBe(language);
  });

  it('is that of the browser if the browser blocks storage', async () => {
    vi.resetModules();
    vi.stubGlobal('navigator', { languages: ['zh-CN'] });
    vi.stubGlobal('localStorage', undefined);
    expect((await import('./locale')).language).toBe('zh');
  });
});
