import type { Token } from '../../api/tokens';
import { Section } from '../../shared/Section';
import { Snippets } from '../../shared/snippets/Snippets';
import { texts } from '../../texts';

/** How a program uses the key. The key itself is not shown. */
export function UseSection({ token }: { token: Token }) {
  return (
    <Section title={texts.snippets.title}>
      <Snippets token={token} />
    </Section>
  );
}
