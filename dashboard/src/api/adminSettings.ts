import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type Settings = components['schemas']['SettingsBody'];
export type Setting = components['schemas']['SettingBody'];
export type GroupSetting = components['schemas']['GroupSettingBody'];

/** What is set at the server. It changes only when the server restarts. */
export function useSettings(enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['admin', 'settings'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/settings', { signal })),
  });
}
