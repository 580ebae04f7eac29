import { Box, Button, Group, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconUsers, IconUsersPlus } from '@tabler/icons-react';
import { type RefObject, useRef, useState } from 'react';
import { readUserSorting, userSortings, useUsers } from '../../../api/adminUsers';
import { type User, useUser } from '../../../api/session';
import { EmptyState } from '../../../shared/EmptyState';
import { NoMatches } from '../../../shared/NoMatches';
import { PageHeader } from '../../../shared/PageHeader';
import { OtherLists } from '../../../shared/search/OtherLists';
import { SelectionBar } from '../../../shared/selection/SelectionBar';
import { SelectAll } from '../../../shared/selection/selectColumn';
import { useSelection } from '../../../shared/selection/useSelection';
import { useListQuery } from '../../../shared/useListQuery';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { KeywordSearch } from '../shared/KeywordSearch';
import { userHref } from '../shared/links';
import { PagedTable } from '../shared/PagedTable';
import { BulkUsersDialog } from './bulk/BulkUsersDialog';
import { type BulkAction, bulkActions } from './bulk/bulkForm';
import { CreateUserDialog } from './CreateUserDialog';
import { mayManage } from './permissions';
import { type UserDialog, UserDialogs } from './UserDialogs';
import { userColumns } from './userColumns';

const words = texts.adminUsers;
const bulkWords = texts.adminBulk;
const states = [
  { value: '', label: words.allStates },
  { value: '1', label: words.enabled },
  { value: '2', label: words.disabled },
];
const orders = userSortings.map((value) => ({ value, label: words.sort.by[value] }));

export default function UsersPage() {
  const { filters, page, setFilters, setPage } = useListQuery(['keyword', 'status', 'sort']);
  const { keyword } = filters;
  const status = states.find(({ value }) => value === filters.status)?.value ?? '';
  const sorting = readUserSorting(filters.sort);
  const users = useUsers({ keyword, status, sorting }, page);
  const [creating, { open: create, close: endCreating }] = useDisclosure();
  const { dialog, row, open, close } = useRowDialog<UserDialog, User>();
  const admin = useUser();
  const selection = useSelection((users.data?.items ?? []).filter((user) => mayManage(admin, user)));
  const [bulk, setBulk] = useState<{ action: BulkAction; ofSelected: boolean }>();

  const createButtonRef = useRef<HTMLButtonElement>(null);

  const createButton = (ref?: RefObject<HTMLButtonElement | null>) => (
    <Button ref={ref} leftSection={<IconPlus size={18} />} onClick={create}>
      {words.create}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={
          <>
            {createButton(createButtonRef)}
            <Button
              variant="default"
              leftSection={<IconUsersPlus size={18} stroke={1.6} />}
              onClick={() => setBulk({ action: 'top_up', ofSelected: false })}
            >
              {bulkWords.open}
            </Button>
          </>
        }
      />
      <Group mb="md" gap="sm" align="flex-start">
        <KeywordSearch
          label={words.search}
          keyword={keyword}
          onSearch={(typed) => setFilters({ keyword: typed })}
        />
        <Select
          aria-label={words.columns.status}
          w={{ base: '100%', sm: 170 }}
          data={states}
          allowDeselect={false}
          value={status}
          onChange={(selected) => setFilters({ status: selected ?? '' })}
        />
        <Select
          aria-label={words.sort.label}
          w={{ base: '100%', sm: 190 }}
          data={orders}
          allowDeselect={false}
          value={sorting}
          onChange={(selected) => setFilters({ sort: selected === 'newest' ? '' : (selected ?? '') })}
        />
      </Group>
      <OtherLists current="users" text={keyword} />
      <PagedTable
        label={words.title}
        columns={userColumns(open, selection)}
        cardsHeader={
          <Box px="md" mb="sm">
            <SelectAll selection={selection} label={bulkWords.select.page} />
          </Box>
        }
        query={users}
        rowKey={(user) => user.id}
        rowHref={(user) => userHref(user.id)}
        page={page}
        onPage={setPage}
        empty={
          keyword || status ? (
            <NoMatches onClear={() => setFilters({ keyword: '', status: '' })} />
          ) : (
            <EmptyState icon={IconUsers} {...words.empty} action={createButton()} />
          )
        }
      />
      <SelectionBar label={bulkWords.selected} selection={selection}>
        {bulkActions.map((action) => (
          <Button
            key={action}
            size="xs"
            variant="default"
            onClick={() => setBulk({ action, ofSelected: true })}
          >
            {bulkWords.actions[action]}
          </Button>
        ))}
      </SelectionBar>
      <BulkUsersDialog
        request={bulk && { action: bulk.action, users: bulk.ofSelected ? selection.rows : undefined }}
        onLeaveOut={selection.remove}
        onDone={() => bulk?.ofSelected && selection.clear()}
        onClose={() => setBulk(undefined)}
      />
      <CreateUserDialog opened={creating} onClose={endCreating} />
      {row && (
        <UserDialogs
          key={row.id}
          dialog={dialog}
          user={row}
          focusAfterDelete={createButtonRef}
          onClose={close}
        />
      )}
    </>
  );
}
