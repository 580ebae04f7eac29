import { Paper, Title } from '@mantine/core';
import type { Token } from '../../api/tokens';
import { Snippets } from '../../shared/snippets/Snippets';
import { texts } from '../../texts';

/** How a program uses the key. The key itself is not shown. */
export function UseSection({ token }: { token: Token }) {
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="sm">
        {texts.snippets.title}
      </Title>
      <Snippets token={token} />
    </Paper>
  );
}
