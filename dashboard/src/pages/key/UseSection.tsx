import { Paper, Title } from '@mantine/core';
import { Snippets } from '../../shared/snippets/Snippets';
import { texts } from '../../texts';

/** How a program uses the key. The key itself is not shown. */
export function UseSection() {
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="sm">
        {texts.snippets.title}
      </Title>
      <Snippets />
    </Paper>
  );
}
