import { Paper, Stack, Text, Title } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { CodeExample } from '../../../shared/CodeExample';
import { Fact, Facts } from '../../../shared/Facts';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';

const words = texts.adminSystem.backup;

const COMMANDS = [
  { title: words.private, code: 'keymeter backup /backups/keymeter-$(date +%F)' },
  { title: words.own, code: 'pg_dump --format=custom --file=keymeter.dump "$DATABASE_URL"' },
];

/** The newest backup that is known, or how to make one. */
export function BackupSection({ backup }: { backup: System['backup'] }) {
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="md">
        {words.title}
      </Title>
      <Stack gap="md">
        <Facts>
          <Fact name={words.newest} span="half">
            <When seconds={backup?.time} never={words.unknown} />
          </Fact>
          {backup && (
            <Fact name={words.by} span="half">
              {textOf(words.sources, backup.source) ?? backup.source}
            </Fact>
          )}
        </Facts>
        {!backup && (
          <>
            <Text size="sm" c="dimmed">
              {words.unknownHint}
            </Text>
            {COMMANDS.map(({ title, code }) => (
              <CodeExample key={title} title={title} code={code} copyLabel={words.copy(title)} />
            ))}
          </>
        )}
        <Text size="sm" c="dimmed">
          {words.keepKey}
        </Text>
      </Stack>
    </Paper>
  );
}
