import { describe, expect, it } from 'vitest';
import { contextText, ratePerUnit, unitLabel, unitName } from './units';

describe('a unit', () => {
  it('has a name in words, also if the dashboard does not know it', () => {
    expect(unitName('cache_read_tokens')).toBe('cached input tokens');
    expect(unitName('gpu_seconds')).toBe('gpu seconds');
    expect(unitName('toString')).toBe('toString');
    expect(unitLabel('web_searches')).toBe('Web searches');
  });

  it.each([
    ['10', 1000, 'web_searches', '$10.00 per 1,000 web searches'],
    ['100', 1_000_000, 'input_audio_tokens', '$100.00 per million audio input tokens'],
    ['0.36', 3600, 'audio_seconds', '$0.36 per hour of audio'],
    ['0.04', 3600, 'gpu_seconds', '$0.04 per 3,600 gpu seconds'],
    ['0.04', 1, 'pictures', 'Pictures: $0.04 each'],
    ['0.000000000001', 1_000_000_000, 'input_pixels', '$0.000000000001 per billion input pixels'],
  ])('with the rate %s for %d %s is %s', (usd, per, unit, text) => {
    expect(ratePerUnit({ usd, per, unit })).toBe(text);
  });
});

it('a context is said in words', () => {
  expect(contextText({ service_tier: 'priority', data_zone: 'eu' })).toEqual([
    'service tier: priority',
    'data zone: eu',
  ]);
});
