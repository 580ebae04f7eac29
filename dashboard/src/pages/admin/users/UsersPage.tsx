import { Button, Group, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconUsers } from '@tabler/icons-react';
import { type RefObject, useRef } from 'react';
import { readUserSorting, userSortings, useUsers } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { EmptyState } from '../../../shared/EmptyState';
import { NoMatches } from '../../../shared/NoMatches';
import { PageHeader } from '../../../shared/PageHeader';
import { OtherLists } from '../../../shared/search/OtherLists';
import { useListQuery } from '../../../shared/useListQuery';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { KeywordSearch } from '../shared/KeywordSearch';
import { userHref } from '../shared/links';
import { PagedTable } from '../shared/PagedTable';
import { CreateUserDialog } from './CreateUserDialog';
import { type UserDialog, UserDialogs } from './UserDialogs';
import { userColumns } from './userColumns';

const words = texts.adminUsers;
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
        actions={createButton(createButtonRef)}
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
        columns={userColumns(open)}
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
