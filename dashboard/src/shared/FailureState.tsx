import { Button } from '@mantine/core';
import { IconCloudOff, IconLock } from '@tabler/icons-react';
import { Link } from 'wouter';
import { hasCode } from '../api/error';
import { texts } from '../texts';
import { EmptyState } from './EmptyState';
import { FailureMessage } from './FailureMessage';

/** Replaces content that could not be loaded. */
export function FailureState({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const { title, notEnabled, requestAccess } = texts.common.failure;
  if (hasCode(error, 'token_api_not_enabled')) {
    const action = (
      <Button component={Link} href="/enablement">
        {requestAccess}
      </Button>
    );
    return <EmptyState icon={IconLock} title={notEnabled} action={action} />;
  }
  return (
    <div role="alert">
      <EmptyState
        icon={IconCloudOff}
        title={title}
        hint={<FailureMessage error={error} />}
        action={
          <Button variant="default" onClick={onRetry}>
            {texts.common.retry}
          </Button>
        }
      />
    </div>
  );
}
