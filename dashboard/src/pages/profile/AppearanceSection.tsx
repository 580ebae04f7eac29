import { type MantineColorScheme, SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { Section } from '../../shared/Section';
import { texts } from '../../texts';

const { label, light, dark, auto } = texts.shell.colorScheme;

const schemes: { value: MantineColorScheme; label: string }[] = [
  { value: 'light', label: light },
  { value: 'dark', label: dark },
  { value: 'auto', label: auto },
];

export function AppearanceSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Section title={texts.profile.appearance.title}>
      <SegmentedControl
        fullWidth
        aria-label={label}
        data={schemes}
        value={colorScheme}
        onChange={setColorScheme}
      />
    </Section>
  );
}
