import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import classes from './App.module.css';
import { queryClient } from './api/queryClient';
import { CopyDialog } from './shared/CopyDialog';
import { ConnectionBanner } from './shell/ConnectionBanner';
import { Routes } from './shell/Routes';
import { colorSchemeManager } from './theme/colorScheme';
import { cssVariablesResolver } from './theme/cssVariables';
import { theme } from './theme/theme';

export { preload } from './shell/preload';

export function App() {
  return (
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariablesResolver}
        colorSchemeManager={colorSchemeManager}
        defaultColorScheme="auto"
      >
        <QueryClientProvider client={queryClient}>
          <Routes />
          <CopyDialog />
          <ConnectionBanner />
          {/* At the top: at the bottom, forms and the bar of selected keys have their buttons. */}
          <Notifications position="top-center" autoClose={5000} className={classes.toasts} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}
