import { ActionIcon, Menu } from '@mantine/core';
import { IconLanguage } from '@tabler/icons-react';
import { chooseLanguage, type Language, language, languages, languageTags } from '../format/locale';
import { texts } from '../texts';

/** A button with a menu of languages, for pages without the account menu. */
export function LanguageMenu() {
  const { label } = texts.shell.language;
  return (
    <Menu position="bottom-end" width={190} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <IconLanguage size={20} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label={label}>
        <LanguageItems />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The languages as items of a menu, each by its own name. */
export function LanguageItems() {
  return (
    <Menu.RadioGroup value={language} onChange={(choice) => chooseLanguage(choice as Language)}>
      {Object.entries(languages).map(([value, name]) => (
        <Menu.RadioItem key={value} value={value} lang={languageTags[value as Language]}>
          {name}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}
