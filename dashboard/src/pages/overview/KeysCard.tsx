import { Paper, Title } from '@mantine/core';
import type { Overview } from '../../api/overview';
import { StateCounts } from '../../shared/StateCounts';
import { texts } from '../../texts';
import classes from './KeysCard.module.css';
import page from './OverviewPage.module.css';

/** The number of keys by state, with links to the filtered list. */
export function KeysCard({ counts }: { counts: Overview['states'] | undefined }) {
  return (
    <Paper component="section" p="lg" className={`${page.keys} ${classes.card}`} aria-busy={!counts}>
      <Title order={2} mb="xs" lh="36px">
        {texts.overview.keys.title}
      </Title>
      <StateCounts href="/keys" counts={counts} />
    </Paper>
  );
}
