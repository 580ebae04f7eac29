import { Paper, Stack, Text, Title } from '@mantine/core';
import { CodeExample } from '../../shared/CodeExample';
import { Name } from '../../shared/Name';
import { texts } from '../../texts';
import { priceFile, SET_COMMAND } from './addPrice';

const words = texts.prices.add;

/** Says how an administrator adds a price: in a file, which a command sends to the server. */
export function AddPrice({ model }: { model: string }) {
  return (
    <Paper component="section" p="lg">
      <Stack gap="md">
        <div>
          <Title order={2} mb={4}>
            {words.title}
          </Title>
          {model && (
            <Text fw={600}>
              <Name>{model}</Name>
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {words.hint}
          </Text>
        </div>
        <CodeExample title={words.file} code={priceFile(model)} copyLabel={words.copyFile} />
        <CodeExample title={words.command} code={SET_COMMAND} copyLabel={words.copyCommand} />
      </Stack>
    </Paper>
  );
}
