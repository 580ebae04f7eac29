import { Alert, Button, Paper, Stack, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useId } from 'react';
import type { ImportRun } from '../../../api/adminImports';
import { formatDateTime } from '../../../format/time';
import { Fact, Facts } from '../../../shared/Facts';
import { ToneBadge } from '../../../shared/ToneBadge';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import classes from './ImportsPage.module.css';
import { ReportDetails } from './ReportDetails';
import { summaryOf } from './report';

const words = texts.adminImports;

/** A run of an import. The report of earlier runs is hidden at first. */
export function RunSection({ run, isLatest }: { run: ImportRun; isLatest: boolean }) {
  const { name, at, complete, report } = run;
  const id = useId();
  const [opened, { toggle }] = useDisclosure(isLatest);
  const action = opened ? words.hide : words.show;
  return (
    <Paper component="section" p="lg" aria-labelledby={`${id}-name`}>
      <div className={classes.header}>
        <Title order={2} id={`${id}-name`} className={classes.name}>
          {name}
        </Title>
        <ToneBadge tone={complete ? 'ok' : 'warn'}>{complete ? words.complete : words.failed}</ToneBadge>
        <Button
          variant="default"
          size="xs"
          ml="auto"
          aria-expanded={opened}
          aria-controls={`${id}-report`}
          aria-label={words.toggleLabel(action, name, formatDateTime(at))}
          onClick={toggle}
        >
          {action}
        </Button>
      </div>
      <Stack gap="lg">
        {!complete && (
          <Alert color="yellow" icon={<IconAlertTriangle size={18} />}>
            {words.failedHint}
          </Alert>
        )}
        <Facts>
          <Fact name={words.facts.ended}>
            <When seconds={at} />
          </Fact>
          <Fact name={words.facts.service}>{report.service}</Fact>
          <Fact name={words.facts.source}>{report.source}</Fact>
          <Fact name={words.facts.summary}>{summaryOf(report)}</Fact>
        </Facts>
        <div id={`${id}-report`} hidden={!opened}>
          {opened && <ReportDetails report={report} />}
        </div>
      </Stack>
    </Paper>
  );
}
