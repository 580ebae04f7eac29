import { Button, Paper } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useOverview } from '../../api/overview';
import { useStatus } from '../../api/status';
import { totalsOf } from '../../format/usage';
import { FailureState } from '../../shared/FailureState';
import { AdministratorChecklist } from '../../shared/onboarding/AdministratorChecklist';
import { UserChecklist, useShowsUserChecklist } from '../../shared/onboarding/UserChecklist';
import { PageHeader } from '../../shared/PageHeader';
import { SpendTotal } from '../../shared/SpendTotal';
import { texts } from '../../texts';
import { AttentionCard } from './AttentionCard';
import { FirstRun } from './FirstRun';
import { KeysCard } from './KeysCard';
import classes from './OverviewPage.module.css';
import { SpendCard } from './SpendCard';
import { WalletCard } from './WalletCard';

const words = texts.overview;

export default function OverviewPage() {
  const { data: overview, error, refetch } = useOverview();
  const week = overview && totalsOf(overview.daily);
  const today = overview && totalsOf(overview.daily.filter(({ date }) => date === overview.end_date));
  // Days of usage begin at midnight of the server, which may not be that of the browser.
  const zone = useStatus().data?.time_zone;
  const showsChecklist = useShowsUserChecklist();
  const isFirstRun = overview?.tokens.total === 0 && week?.requests === 0;

  if (error && !overview) {
    return (
      <>
        <PageHeader title={words.title} />
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      </>
    );
  }
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={
          !isFirstRun && (
            <Button
              component={Link}
              href="/keys?create"
              variant="default"
              leftSection={<IconPlus size={18} />}
            >
              {texts.keys.create}
            </Button>
          )
        }
      />
      <div className={classes.grid} data-first-run={isFirstRun || undefined}>
        <AdministratorChecklist className={classes.all} />
        {showsChecklist && !isFirstRun && overview && (
          <UserChecklist keys={overview.tokens.total} className={classes.all} />
        )}
        <WalletCard />
        {isFirstRun ? (
          showsChecklist ? (
            <UserChecklist keys={0} className={classes.two} />
          ) : (
            <FirstRun />
          )
        ) : (
          <>
            <SpendTotal title={zone ? words.todayIn(zone) : words.today} totals={today} />
            <SpendTotal title={words.week} totals={week} />
            <SpendCard overview={overview} />
            <KeysCard counts={overview?.states} />
            <AttentionCard overview={overview} />
          </>
        )}
      </div>
    </>
  );
}
