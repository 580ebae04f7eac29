import { Alert, Paper, Skeleton, Stack, Title } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { useSettings } from '../../../api/adminSettings';
import { FailureState } from '../../../shared/FailureState';
import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';
import { GroupList } from './GroupList';
import { SettingList } from './SettingList';
import { inSection, sections } from './settingText';

const words = texts.adminSettings;

/** What is set at the server, and where it is changed. Scrolls to the setting that the address names. */
export default function SettingsPage() {
  const { data, error, refetch } = useSettings();
  const [params] = useSearchParams();
  const wanted = params.get('name') ?? '';
  const isLoaded = data !== undefined;
  useEffect(() => {
    if (isLoaded) document.getElementById(wanted)?.scrollIntoView({ block: 'center' });
  }, [isLoaded, wanted]);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      {data ? (
        <Stack gap="md">
          <Alert icon={<IconInfoCircle size={18} />} color="gray" variant="default">
            {words.howToChange}
          </Alert>
          {sections.map((section) => (
            <Paper key={section} component="section" p="lg">
              <Title order={2} mb="xs">
                {words.sections[section]}
              </Title>
              <SettingList settings={inSection(data.settings, section)} />
              {section === 'gateway' && <GroupList groups={data.groups} />}
            </Paper>
          ))}
        </Stack>
      ) : error ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <Skeleton h={480} radius="lg" />
      )}
    </>
  );
}
