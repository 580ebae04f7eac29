import { Paper, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { type ApiRequest, type Decision, useRequests } from '../../../api/adminRequests';
import { EmptyState } from '../../../shared/EmptyState';
import { PageHeader } from '../../../shared/PageHeader';
import { useListQuery } from '../../../shared/useListQuery';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { Paged } from '../shared/Paged';
import { DecisionDialog } from './DecisionDialog';
import { RequestCard } from './RequestCard';
import classes from './RequestsPage.module.css';
import { stateFilterOf, stateFilters } from './requestState';

const words = texts.adminRequests;
const SKELETONS = ['a', 'b', 'c'];

export default function RequestsPage() {
  const { filters, page, setFilters, setPage } = useListQuery(['state']);
  const state = stateFilterOf(filters.state);
  const requests = useRequests(state === 'all' ? '' : state, page);
  const { dialog, row, open, close } = useRowDialog<Decision, ApiRequest>();
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <SegmentedControl
        className={classes.filter}
        aria-label={words.state}
        data={stateFilters.map((value) => ({ value, label: words.states[value] }))}
        value={state}
        onChange={(selected) => setFilters({ state: selected === 'pending' ? '' : selected })}
      />
      <Paged
        query={requests}
        page={page}
        onPage={setPage}
        empty={
          <EmptyState icon={IconInbox} {...(state === 'pending' ? words.empty.pending : words.empty.other)} />
        }
      >
        {(rows) => (
          <Stack component="ul" gap="md" aria-label={words.title} aria-busy={!rows} className={classes.list}>
            {rows?.map((request) => (
              <RequestCard
                key={request.id}
                request={request}
                onDecide={(decision) => open(decision, request)}
              />
            )) ?? SKELETONS.map((skeleton) => <CardSkeleton key={skeleton} />)}
          </Stack>
        )}
      </Paged>
      {row && <DecisionDialog key={row.id} decision={dialog} request={row} onClose={close} />}
    </>
  );
}

function CardSkeleton() {
  return (
    <Paper component="li" p="lg">
      <Stack gap="sm">
        <Skeleton h={22} w={160} />
        <Skeleton h={16} />
        <Skeleton h={16} w="60%" />
      </Stack>
    </Paper>
  );
}
