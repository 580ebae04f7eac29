import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconUsers, IconUsersPlus } from '@tabler/icons-react';
import { type RefObject, useRef, useState } from 'react';
import { DEFAULT_USER_SORTING, readUserSorting, useUsers } from '../../../api/adminUsers';
import { type User, useUser } from '../../../api/session';
import { EmptyState } from '../../../shared/EmptyState';
import { ChoiceSelect } from '../../../shared/ListingFields';
import { NoMatches } from '../../../shared/NoMatches';
import { PageHeader } from '../../../shared/PageHeader';
import { OtherLists } from '../../../shared/search/OtherLists';
import { SelectionBar } from '../../../shared/selection/SelectionBar';
import { SelectAll } from '../../../shared/selection/selectColumn';
import { useSelection } from '../../../shared/selection/useSelection';
import { useListQuery } from '../../../shared/useListQuery';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { AnyGroupFilter } from '../shared/AnyGroupFilter';
import { KeywordSearch } from '../shared/KeywordSearch';
import { userHref } from '../shared/links';
import { PagedTable } from '../shared/PagedTable';
import { useListPageSize } from '../shared/useListPageSize';
import { BulkUsersDialog } from './bulk/BulkUsersDialog';
import { type BulkAction, bulkActions } from './bulk/bulkForm';
import { CreateUserDialog } from './CreateUserDialog';
import { mayManage } from './permissions';
import { type UserDialog, UserDialogs } from './UserDialogs';
import { UserSortSelect } from './UserSortSelect';
import { userColumns } from './userColumns';
import type { UserOrder } from './userOrder';

const words = texts.adminUsers;
const bulkWords = texts.adminBulk;
const states = [
  { value: '', label: words.allStates },
  { value: '1', label: words.enabled },
  { value: '2', label: words.disabled },
];
const noFilter = { keyword: '', status: '', group: '' };

export default function UsersPage() {
  const list = useListQuery(['keyword', 'status', 'group', 'sort']);
  const { filters, page, setFilters, setPage } = list;
  const sizes = useListPageSize('keymeter-users-per-page', list);
  const { keyword } = filters;
  const group = filters.group || undefined;
  const status = states.find(({ value }) => value === filters.status)?.value ?? '';
  const order: UserOrder = {
    sorting: readUserSorting(filters.sort),
    onSort: (sorting) => setFilters({ sort: sorting === DEFAULT_USER_SORTING ? '' : sorting }),
  };
  const users = useUsers({ keyword, status, group, sorting: order.sorting }, page, sizes.size);
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
        <ChoiceSelect
          aria-label={words.columns.status}
          data={states}
          value={status}
          onChange={(selected) => setFilters({ status: selected ?? '' })}
        />
        <AnyGroupFilter group={filters.group} onChange={(chosen) => setFilters({ group: chosen })} />
      </Group>
      <OtherLists current="users" text={keyword} />
      <PagedTable
        label={words.title}
        columns={userColumns(open, selection, order)}
        cardsHeader={
          <Group px="md" mb="sm" justify="space-between">
            <SelectAll selection={selection} label={bulkWords.select.page} />
            <UserSortSelect {...order} />
          </Group>
        }
        query={users}
        rowKey={(user) => user.id}
        rowHref={(user) => userHref(user.id)}
        page={page}
        onPage={setPage}
        sizes={sizes}
        empty={
          keyword || status || group ? (
            <NoMatches onClear={() => setFilters(noFilter)} />
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
