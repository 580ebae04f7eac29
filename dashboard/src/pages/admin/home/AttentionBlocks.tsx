import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { useAllUsersOverview } from '../../../api/adminOverview';
import attention from '../../../shared/Attention.module.css';
import { listHref } from '../../../shared/listQuery';
import { NothingToDo } from '../../../shared/NothingToDo';
import { StateName } from '../../../shared/StateBadge';
import { StateCounts } from '../../../shared/StateCounts';
import { stoppedStates } from '../../../shared/stateCounts';
import { AlarmingRow, QuietLine } from '../../../shared/usage/RecentRefusals';
import { splitRefusals } from '../../../shared/usage/recentRefusals';
import { texts } from '../../../texts';
import { keyOfRow } from '../../keys/remedies/remedies';
import { useRemedies } from '../../keys/remedies/useRemedies';
import { Block } from './Block';
import { HeldRow } from './HeldRow';
import classes from './HomePage.module.css';

const words = texts.adminHome.attention;

/** Refusals of the last hour with what ends them, charges that were their holds, and stopped keys of all users. */
export function AttentionBlock() {
  const { data, error, refetch } = useAllUsersOverview();
  const { show, forms } = useRemedies();
  return (
    <>
      <Block
        title={texts.overview.attention.title}
        data={data}
        error={error}
        onRetry={refetch}
        className={classes.wide}
      >
        {({ states, refused_last_hour, charged_by_hold_last_hour: held }) => {
          const { alarms, quiet } = splitRefusals(refused_last_hour);
          const stopped = stoppedStates(states);
          return (
            <>
              {alarms.length + stopped.length + held.length === 0 ? (
                <NothingToDo hint={words.noneHint} />
              ) : (
                <ul className={`${classes.rows} ${attention.columns}`}>
                  {alarms.map((alarm) => {
                    const [refusals] = alarm;
                    return (
                      <AlarmingRow
                        key={refusals.token_id}
                        alarm={alarm}
                        scope="allUsers"
                        remedy={show(refusals.remedy, keyOfRow(refusals))}
                      />
                    );
                  })}
                  {held.map((charges) => (
                    <HeldRow key={`${charges.model} ${charges.reason}`} charges={charges} />
                  ))}
                  {stopped.map(([state, keys]) => (
                    <li key={state}>
                      <Link href={listHref('/admin/tokens', { state })} className={classes.row}>
                        <span className={classes.name}>{words.stopped(keys)}</span>
                        <StateName state={state} />
                      </Link>
                    </li>
                  ))}
                </ul>
              )}
              <QuietLine quiet={quiet} scope="allUsers" />
            </>
          );
        }}
      </Block>
      {forms}
    </>
  );
}

/** The number of keys of all users by state. */
export function KeysBlock() {
  const { data, error, refetch } = useAllUsersOverview();
  return (
    <Block
      title={texts.overview.keys.title}
      data={data}
      error={error}
      onRetry={refetch}
      className={classes.third}
    >
      {({ states, truncated }) => (
        <>
          {truncated && (
            <Text size="sm" c="dimmed">
              {words.newest}
            </Text>
          )}
          <StateCounts href="/admin/tokens" counts={states} />
        </>
      )}
    </Block>
  );
}
