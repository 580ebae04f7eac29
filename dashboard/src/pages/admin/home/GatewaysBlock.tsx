import { Text } from '@mantine/core';
import { useGateways } from '../../../api/adminGateways';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import { Block, NoRows } from './Block';
import { byLastUse } from './gatewayUse';
import classes from './HomePage.module.css';

const words = texts.adminHome.gateways;
const ROWS = 3;

/** When each gateway last used one of its credentials. */
export function GatewaysBlock() {
  const { data, error, refetch } = useGateways();
  return (
    <Block
      title={words.title}
      href="/admin/gateways"
      linkLabel={words.all}
      data={data && byLastUse(data)}
      error={error}
      onRetry={refetch}
      rows={ROWS}
    >
      {(gateways) =>
        gateways.length === 0 ? (
          <NoRows>{words.empty}</NoRows>
        ) : (
          <>
            <ul className={classes.rows}>
              {gateways.slice(0, ROWS).map(({ id, name, lastUse }) => (
                <li key={id} className={classes.row}>
                  <div className={`${classes.words} ${classes.name}`}>{name}</div>
                  <Text size="sm" c="dimmed" className={classes.end}>
                    <RelativeTime
                      label={lastUse === undefined ? undefined : words.seen}
                      seconds={lastUse}
                      never={words.never}
                    />
                  </Text>
                </li>
              ))}
            </ul>
            {gateways.length > ROWS && (
              <Text size="sm" c="dimmed" mt="md">
                {words.more(gateways.length - ROWS)}
              </Text>
            )}
          </>
        )
      }
    </Block>
  );
}
