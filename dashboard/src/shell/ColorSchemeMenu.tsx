import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { texts } from '../texts';

const icons = { light: IconSun, dark: IconMoon, auto: IconDeviceDesktop };
const schemes: MantineColorScheme[] = ['light', 'dark', 'auto'];

export function ColorSchemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { label } = texts.shell.colorScheme;
  const SelectedIcon = icons[colorScheme];
  return (
    <Menu position="bottom-end" width={190} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <SelectedIcon size={20} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label={label}>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}
        >
          {schemes.map((scheme) => {
            const Icon = icons[scheme];
            return (
              <Menu.RadioItem key={scheme} value={scheme} rightSection={<Icon size={16} stroke={1.6} />}>
                {texts.shell.colorScheme[scheme]}
              </Menu.RadioItem>
            );
          })}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
