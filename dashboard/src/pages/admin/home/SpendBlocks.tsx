import { daysOf, useUsageReport } from '../../../api/usageReports';
import { totalsOf } from '../../../format/usage';
import { SpendChart } from '../../../shared/chart/SpendChart';
import { SpendTotal } from '../../../shared/SpendTotal';
import { texts } from '../../../texts';
import { Block } from './Block';
import classes from './HomePage.module.css';

const words = texts.adminHome;
const WEEK = 7;

function useSpend() {
  return useUsageReport({ scope: 'allUsers', groupBy: 'day' });
}

/** The spend of all users today and over 7 and 30 days. If it cannot be loaded, only the chart says so. */
export function SpendTotals() {
  const { data, error } = useSpend();
  if (error && !data) return null;
  const days = data && daysOf(data);
  const lastDays = (count: number) => days && totalsOf(days.slice(-count));
  return (
    <>
      <SpendTotal
        title={words.today(data?.time_zone ?? '…')}
        totals={lastDays(1)}
        className={classes.third}
      />
      <SpendTotal title={words.week} totals={lastDays(WEEK)} className={classes.third} />
      <SpendTotal title={words.month} totals={days && totalsOf(days)} className={classes.third} />
    </>
  );
}

/** The spend of all users by day. */
export function SpendBlock() {
  const { data, error, refetch } = useSpend();
  return (
    <Block
      title={words.spend.title}
      href="/admin/usage?range=30d"
      linkLabel={words.spend.all}
      data={data}
      error={error}
      onRetry={refetch}
      className={classes.wide}
    >
      {(report) => (
        <div className={classes.chart}>
          <SpendChart daily={daysOf(report)} today={report.to} />
        </div>
      )}
    </Block>
  );
}
