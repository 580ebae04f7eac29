import { Stack } from '@mantine/core';
import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';
import { AboutSection } from './AboutSection';
import { AccountSection } from './AccountSection';
import { AppearanceSection } from './AppearanceSection';
import { AccessTokensSection } from './access-tokens/AccessTokensSection';
import { ActivitySection } from './activity/ActivitySection';
import { PasswordSection } from './PasswordSection';
import classes from './ProfilePage.module.css';
import { SessionsSection } from './sessions/SessionsSection';

export default function ProfilePage() {
  return (
    <>
      <PageHeader title={texts.profile.title} description={texts.profile.description} />
      <div className={classes.columns}>
        <Stack gap="xl">
          <AboutSection />
          <PasswordSection />
        </Stack>
        <Stack gap="xl">
          <AccountSection />
          <AppearanceSection />
        </Stack>
      </div>
      <AccessTokensSection />
      <SessionsSection />
      <ActivitySection />
    </>
  );
}
