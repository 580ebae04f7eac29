import { IconCpu, IconServer2, IconSettings, IconUsersGroup } from '@tabler/icons-react';
import { useGateways } from '../../api/adminGateways';
import { useSettings } from '../../api/adminSettings';
import { isAdministrator, useUser } from '../../api/session';
import { useModels } from '../../api/tokenOptions';
import { settingName } from '../../pages/admin/settings/settingText';
import { listHref } from '../../shared/listQuery';
import { requestsHref } from '../../shared/usage/requestFilters';
import { texts } from '../../texts';
import { type Group, type Item, named } from './items';
import { MAX_RESULTS } from './useFound';

const words = texts.commands;

/** Models and, for administrators, gateways, groups and settings by their names. Their lists are short, so they are loaded whole. */
export function useFoundNames(query: string): Group[] {
  const user = useUser();
  const isSearch = query.trim() !== '';
  const ofAll = isAdministrator(user);
  const scope = ofAll ? 'allUsers' : 'own';
  const models = useModels(isSearch && (ofAll || user.token_api_enabled)).data ?? [];
  const gateways = useGateways(isSearch && ofAll).data ?? [];
  const { groups = [], settings = [] } = useSettings(isSearch && ofAll).data ?? {};
  if (!isSearch) return [];
  const found: Group[] = [
    {
      label: words.models,
      items: models.map((model) => ({
        id: `model-${model}`,
        label: model,
        icon: IconCpu,
        target: { path: requestsHref(scope, { model }) },
      })),
    },
    {
      label: words.gateways,
      items: gateways.map(({ id, name }) => ({
        id: `gateway-${id}`,
        label: name,
        icon: IconServer2,
        target: { path: requestsHref('allUsers', { gateway_id: id }) },
      })),
    },
    {
      label: words.groups,
      items: groups.map(({ name, description }) => ({
        id: `group-${name}`,
        label: name,
        hint: description,
        icon: IconUsersGroup,
        target: { path: listHref('/admin/users', { group: name }) },
      })),
    },
    {
      label: words.settings,
      items: settings.map(
        ({ name }): Item => ({
          id: `setting-${name}`,
          label: settingName(name),
          hint: name,
          icon: IconSettings,
          target: { path: listHref('/admin/settings', { name }) },
        }),
      ),
    },
  ];
  return found.map(({ label, items }) => ({ label, items: named(items, query).slice(0, MAX_RESULTS) }));
}
