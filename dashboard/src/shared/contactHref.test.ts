import { describe, expect, it } from 'vitest';
import { contactHref } from './contactHref';

describe('contactHref', () => {
  it.each([
    ['keys@example.org', 'mailto:keys@example.org'],
    ['https://example.org/help', 'https://example.org/help'],
    ['javascript:alert(1)', undefined],
    ['javascript:a@b.c', undefined],
    ['room 12, ask for Ann', undefined],
    ['', undefined],
  ])('%j becomes %j', (contact, href) => {
    expect(contactHref(contact)).toBe(href);
  });
});
