import type { Settings } from '../../../api/adminSettings';

/** Where people find this service: the address of the settings, or else the one in the browser. */
export function serviceAddress(settings: Settings | undefined, origin: string): string {
  const value = settings?.settings.find(({ name }) => name === 'http.public_url')?.value;
  return typeof value === 'string' && value !== '' ? value : origin;
}
