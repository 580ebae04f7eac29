import { AppShell, Burger, Container, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { texts } from '../texts';
import { AccountMenu } from './AccountMenu';
import classes from './AppLayout.module.css';
import { Brand } from './Brand';
import { ColorSchemeMenu } from './ColorSchemeMenu';
import { CommandDialogs } from './commands/CommandDialogs';
import { SearchButton } from './commands/SearchButton';
import { useCommands } from './commands/useCommands';
import { Navigation } from './Navigation';

const MAIN = 'main';

export function AppLayout({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const { skipToContent, openNavigation, closeNavigation, navigation } = texts.shell;
  useResetOnNavigation();
  const commands = useCommands();
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className={classes.skip} href={`#${MAIN}`}>
        {skipToContent}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" wrap="nowrap" gap="sm">
          <Burger
            hiddenFrom="sm"
            size="sm"
            opened={opened}
            onClick={toggle}
            aria-expanded={opened}
            aria-label={opened ? closeNavigation : openNavigation}
          />
          <Brand />
          <Group ml="auto" wrap="nowrap" className={classes.tools}>
            <SearchButton onClick={() => commands.open('palette')} />
            <ColorSchemeMenu />
            <AccountMenu onShortcuts={() => commands.open('help')} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="sm"
        aria-label={navigation}
        className={classes.navbar}
        data-folded={!opened || undefined}
      >
        <Navigation onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id={MAIN} tabIndex={-1}>
        <Container size={1120} px={0}>
          {children}
        </Container>
      </AppShell.Main>
      <CommandDialogs commands={commands} />
    </AppShell>
  );
}

/** Scrolls to the top and focuses the main content when the page changes, as a full load does. */
function useResetOnNavigation() {
  const [path] = useLocation();
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    window.scrollTo(0, 0);
    document.getElementById(MAIN)?.focus({ preventScroll: true });
  }, [path]);
}
