import { Code, Text, Title } from '@mantine/core';
import type { GroupSetting } from '../../../api/adminSettings';
import { texts } from '../../../texts';
import classes from './SettingList.module.css';

const words = texts.adminSettings.groups;

export function GroupList({ groups }: { groups: GroupSetting[] }) {
  return (
    <>
      <Title order={3} mt="lg">
        {words.title}
      </Title>
      <dl className={classes.list}>
        {groups.map(({ name, description, ratio, open }) => (
          <div key={name} className={classes.line}>
            <dt className={classes.words}>
              <div className={classes.title}>{description || name}</div>
              <div className={classes.names}>{`[groups.${name}]`}</div>
            </dt>
            <dd className={classes.value}>
              <Code className={classes.code}>{`× ${ratio}`}</Code>
              <Text span size="sm" c="dimmed">
                {open ? words.open : words.closed}
              </Text>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
