import { Button, Paper } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { Link } from 'wouter';
import { EmptyState } from '../../shared/EmptyState';
import { texts } from '../../texts';
import classes from './OverviewPage.module.css';

const { title, hint, action } = texts.overview.firstRun;

export function FirstRun() {
  return (
    <Paper component="section" className={classes.two}>
      <EmptyState
        icon={IconKey}
        title={title}
        hint={hint}
        action={
          <Button component={Link} href="/keys?create" mt="xs">
            {action}
          </Button>
        }
      />
    </Paper>
  );
}
