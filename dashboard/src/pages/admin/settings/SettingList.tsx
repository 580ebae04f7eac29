import { Code, Text } from '@mantine/core';
import type { Setting } from '../../../api/adminSettings';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import classes from './SettingList.module.css';
import { settingName, settingValue } from './settingText';

export function SettingList({ settings }: { settings: Setting[] }) {
  return (
    <dl className={classes.list}>
      {settings.map((setting) => (
        <Line key={setting.name} setting={setting} />
      ))}
    </dl>
  );
}

function Line({ setting }: { setting: Setting }) {
  const { code, hint } = settingValue(setting);
  return (
    <div className={classes.line} id={setting.name}>
      <dt className={classes.words}>
        <div className={classes.title}>{settingName(setting.name)}</div>
        <div className={classes.names}>
          <span>{setting.name}</span> · <span>{setting.variable}</span>
        </div>
      </dt>
      <dd className={classes.value}>
        {code && <Code className={classes.code}>{code}</Code>}
        {hint && (
          <Text span size="sm" c="dimmed">
            {hint}
          </Text>
        )}
        {!setting.is_default && !setting.is_secret && (
          <ToneBadge tone="info">{texts.adminSettings.changed}</ToneBadge>
        )}
      </dd>
    </div>
  );
}
