import { Box, Paper } from '@mantine/core';
import { IconDatabaseImport } from '@tabler/icons-react';
import { CodeExample } from '../../../shared/CodeExample';
import { EmptyState } from '../../../shared/EmptyState';
import { texts } from '../../../texts';

const words = texts.adminImports;
const COMMAND = 'keymeter import new-api one-api.db --dry-run';

/** Says how to import. An import is a command, because it reads a database that the server need not reach. */
export function NoImports() {
  return (
    <Paper p={0}>
      <EmptyState
        icon={IconDatabaseImport}
        title={words.empty.title}
        hint={
          <>
            {words.empty.hint}
            <br />
            {words.empty.guide}
          </>
        }
        action={
          <Box w="100%" ta="start">
            <CodeExample title={words.command.title} code={COMMAND} copyLabel={words.command.copy} />
          </Box>
        }
      />
    </Paper>
  );
}
