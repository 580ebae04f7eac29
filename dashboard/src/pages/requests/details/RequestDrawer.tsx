import { Anchor, Button, Drawer, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconCheck, IconCopy, IconLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { hasCode } from '../../../api/error';
import { type PastRequest, useRequest } from '../../../api/requestHistory';
import type { UsageScope } from '../../../api/usageReports';
import { CopyButton } from '../../../shared/CopyButton';
import { Fact, Facts } from '../../../shared/Facts';
import { FailureState } from '../../../shared/FailureState';
import { requestsHref } from '../../../shared/usage/requestFilters';
import { useCopy } from '../../../shared/useCopy';
import { useLastDefined } from '../../../shared/useLastDefined';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { type RequestFact, requestFacts, supportText } from './requestFacts';

const words = texts.requests.details;

interface Props {
  scope: UsageScope;
  /** The ID of the request in its list. Absent for none. */
  id: string | undefined;
  /** The row of the list, if it has one. */
  listed: PastRequest | undefined;
  /** What ends its refusal. */
  remedy: (request: PastRequest) => ReactNode;
  /** A form that ends the refusal is open in front of it, so it steps aside. */
  isCovered: boolean;
  onClose: () => void;
}

/** Everything known of one request, in the order in which one asks: what happened, why, what it cost. */
export function RequestDrawer({ scope, id, listed, remedy, isCovered, onClose }: Props) {
  // What closes still shows what it was.
  const shown = useLastDefined(id);
  const { data: request, error, refetch } = useRequest(scope, shown, listed);
  // An address that was cut off names none.
  const isMissing = request === null || hasCode(error, 'invalid_filter');
  return (
    <Drawer
      opened={id !== undefined && !isCovered}
      onClose={onClose}
      returnFocus={!isCovered}
      position="right"
      size={560}
      padding="lg"
      title={words.title}
      overlayProps={{ backgroundOpacity: 0.5 }}
      closeButtonProps={{ 'aria-label': texts.common.close }}
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontSize: '1.125rem', fontWeight: 650 } }}
    >
      {request ? (
        <Details scope={scope} request={request} remedy={remedy(request)} />
      ) : isMissing ? (
        <Text c="dimmed">{texts.usage.requestHistory.notKept}</Text>
      ) : error ? (
        <FailureState error={error} onRetry={refetch} />
      ) : (
        <Stack aria-busy>
          <Skeleton h={36} w={240} />
          <Skeleton h={240} />
        </Stack>
      )}
    </Drawer>
  );
}

interface DetailsProps {
  scope: UsageScope;
  request: PastRequest;
  remedy: ReactNode;
}

function Details({ scope, request, remedy }: DetailsProps) {
  const groups = requestFacts(request, scope, useNow());
  const link = `${window.location.origin}${requestsHref(scope, { id: request.id })}`;
  return (
    <Stack gap="lg">
      <Group gap="sm">
        <CopyTextButton icon={IconCopy} label={words.copy} value={supportText(groups, link)} />
        <CopyTextButton icon={IconLink} label={words.copyLink} value={link} />
      </Group>
      {groups.map(({ title, facts }) => (
        <section key={title} aria-label={title}>
          <Title order={3} mb="xs">
            {title}
          </Title>
          <Paper p="md">
            <Facts>
              {facts.map((fact) => (
                <Fact
                  key={`${fact.name} ${fact.text}`}
                  name={fact.name}
                  span={fact.isLong ? 'whole' : undefined}
                >
                  {fact.isRemedy && remedy ? remedy : <FactValue fact={fact} />}
                </Fact>
              ))}
            </Facts>
          </Paper>
        </section>
      ))}
    </Stack>
  );
}

function FactValue({ fact: { text, href, copies } }: { fact: RequestFact }) {
  if (href) {
    return (
      <Anchor component={Link} href={href} inherit>
        {text}
      </Anchor>
    );
  }
  if (!copies) return text;
  return (
    <Group gap={4} wrap="nowrap">
      <span>{text}</span>
      <CopyButton value={text} label={words.copyId} />
    </Group>
  );
}

interface CopyTextProps {
  icon: typeof IconCopy;
  label: string;
  value: string;
}

/** Copies a text, and says so. */
function CopyTextButton({ icon: Icon, label, value }: CopyTextProps) {
  const { copied, copy } = useCopy();
  return (
    <Button
      variant="default"
      size="sm"
      leftSection={copied ? <IconCheck size={18} color="var(--km-ok)" /> : <Icon size={18} stroke={1.6} />}
      onClick={() => copy(value)}
    >
      {copied ? words.copied : label}
    </Button>
  );
}
