import { Paper, Stack, Text, Title } from '@mantine/core';
import { CodeExample } from '../../shared/CodeExample';
import { Name } from '../../shared/Name';
import { texts } from '../../texts';
import { convertCommand, priceSetting } from './addPrice';

const words = texts.prices.add;

/** Says how an administrator adds a price: prices are in the settings file, which the server only reads. */
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
        <CodeExample title={words.setting} code={priceSetting(model)} copyLabel={words.copySetting} />
        <CodeExample title={words.command} code={convertCommand(model)} copyLabel={words.copyCommand} />
      </Stack>
    </Paper>
  );
}
