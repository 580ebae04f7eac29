import { expect, it } from 'vitest';
import { serviceAddress } from './serviceAddress';

const ORIGIN = 'http://127.0.0.1:3000';
const setting = { name: 'http.public_url', variable: '', is_secret: false, is_set: true, is_default: false };

it.each([
  [{ ...setting, value: 'https://keys.example.org' }, 'https://keys.example.org'],
  [{ ...setting, value: '' }, ORIGIN],
  [{ ...setting, name: 'other', value: 'https://keys.example.org' }, ORIGIN],
])('%j', (each, address) => {
  expect(serviceAddress({ settings: [each], groups: [] }, ORIGIN)).toBe(address);
});

it('is the one in the browser while the settings are unknown', () => {
  expect(serviceAddress(undefined, ORIGIN)).toBe(ORIGIN);
});
