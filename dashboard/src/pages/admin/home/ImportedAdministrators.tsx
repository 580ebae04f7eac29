import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { useImports } from '../../../api/adminImports';
import { roleName } from '../../../format/role';
import { RelativeTime } from '../../../shared/RelativeTime';
import { ToneBadge } from '../../../shared/ToneBadge';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { Block } from './Block';
import classes from './HomePage.module.css';
import { type ImportedAdministrator, importedAdministrators } from './importedAdministrators';

const words = texts.adminHome.imported;
const HREF = '/admin/imports';
const ROWS = 5;

/** Who became an administrator by an import: somebody else gave them that role. Shown only if there is anyone. */
export function ImportedAdministrators() {
  const { data: runs, error, refetch } = useImports();
  const now = useNow();
  const data = runs && importedAdministrators(runs, now);
  if (error === null && !data?.count) return null;
  return (
    <Block
      title={words.title}
      href={HREF}
      linkLabel={words.all}
      data={data}
      error={data ? null : error}
      onRetry={refetch}
      rows={1}
      className={classes.all}
    >
      {({ count, named }) => {
        const shown = named.slice(0, ROWS);
        return (
          <>
            <ul className={classes.rows}>
              {shown.map((administrator) => (
                <Row key={`${administrator.source} ${administrator.username}`} {...administrator} />
              ))}
            </ul>
            {count > shown.length && (
              <Text size="sm" c="dimmed" mt="md">
                {words.more(count - shown.length)}
              </Text>
            )}
          </>
        );
      }}
    </Block>
  );
}

function Row({ username, role, source, at }: ImportedAdministrator) {
  return (
    <li>
      <Link href={HREF} className={classes.row}>
        <div className={classes.words}>
          <div className={classes.name}>{username}</div>
          <Text size="sm" c="dimmed">
            {words.from(source)}
          </Text>
        </div>
        <Text size="sm" c="dimmed" className={classes.end}>
          <RelativeTime seconds={at} />
        </Text>
        <ToneBadge tone="warn">{roleName(role)}</ToneBadge>
      </Link>
    </li>
  );
}
