import { AdministratorChecklist } from '../../../shared/onboarding/AdministratorChecklist';
import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';
import { AttentionBlock, KeysBlock } from './AttentionBlocks';
import { ClockRepairs } from './ClockRepairs';
import { GatewaysBlock } from './GatewaysBlock';
import classes from './HomePage.module.css';
import { ImportedAdministrators } from './ImportedAdministrators';
import { LockedAccounts } from './LockedAccounts';
import { LostAnswers } from './LostAnswers';
import { LowWallets } from './LowWallets';
import { PendingRequests } from './PendingRequests';
import { ServerBlock } from './ServerBlock';
import { SpendBlock, SpendTotals } from './SpendBlocks';
import { TopKeys, TopUsers } from './TopSpend';

const words = texts.adminHome;

/** What administrators look at first. Each block loads on its own. */
export default function HomePage() {
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <div className={classes.grid}>
        <AdministratorChecklist className={classes.all} />
        <LockedAccounts />
        <ImportedAdministrators />
        <LostAnswers />
        <ClockRepairs />
        <AttentionBlock />
        <KeysBlock />
        <SpendTotals />
        <PendingRequests />
        <LowWallets />
        <SpendBlock />
        <div className={`${classes.third} ${classes.column}`}>
          <ServerBlock />
          <GatewaysBlock />
        </div>
        <TopUsers />
        <TopKeys />
      </div>
    </>
  );
}
