import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { queryClient } from './api/queryClient';
import { ConnectionBanner } from './shell/ConnectionBanner';
import { Routes } from './shell/Routes';
import { colorSchemeManager } from './theme/colorScheme';
import { cssVariablesResolver } from './theme/cssVariables';
import { theme } from './theme/theme';

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
          <ConnectionBanner />
          <Notifications position="bottom-right" autoClose={5000} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}
