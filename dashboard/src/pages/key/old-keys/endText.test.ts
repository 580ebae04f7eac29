import { describe, expect, it } from 'vitest';
import { endText } from './endText';

const NOW = 1_800_000_000;
const HOUR = 3600;

describe('endText', () => {
  it.each([
    [23 * HOUR + 59, 'Works for another 23 h'],
    [24 * HOUR, 'Works for another 1 d'],
    [1, 'Works for another less than 1 min'],
    [0, 'Ends now'],
    [-5, 'Ends now'],
  ])('counts down %d seconds', (seconds, text) => {
    expect(endText({ expires_at: NOW + seconds }, NOW)).toBe(text);
  });

  it('says that the end depends on the new key', () => {
    expect(endText({ expires_at: null }, NOW)).toBe('Waits for the first use of the new key');
  });
});
