import { Loader, Paper, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, call } from '../api/client';
import { useConnection } from '../api/connection';
import { texts } from '../texts';
import classes from './ConnectionBanner.module.css';

const PROBE_INTERVAL_MS = 3000;

/** Says that the server is not available, polls it, and reloads all data when it is back. */
export function ConnectionBanner() {
  const connection = useConnection();
  const client = useQueryClient();
  const lost = connection !== 'fine';

  useEffect(() => {
    if (!lost) return;
    // Any response, also a refusal, ends the outage: the client reports it.
    const probe = () => call(api.GET('/api/user/self')).catch(() => undefined);
    const timer = setInterval(probe, PROBE_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      void client.invalidateQueries();
    };
  }, [lost, client]);

  return (
    <div role="status" className={classes.place}>
      {connection !== 'fine' && (
        <Paper className={classes.banner} radius="md" px="md" py="sm" shadow="md">
          <Loader size={18} color="var(--km-warn)" aria-hidden />
          <Text size="sm">{texts.shell.connection[connection]}</Text>
        </Paper>
      )}
    </div>
  );
}
