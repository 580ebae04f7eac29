import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconUsers } from '@tabler/icons-react';
import { type RefObject, useRef } from 'react';
import { useUsers } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { EmptyState } from '../../../shared/EmptyState';
import { PageHeader } from '../../../shared/PageHeader';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { KeywordSearch } from '../shared/KeywordSearch';
import { NoMatches } from '../shared/NoMatches';
import { PagedTable } from '../shared/PagedTable';
import { useListQuery } from '../shared/useListQuery';
import { CreateUserDialog } from './CreateUserDialog';
import { type UserDialog, UserDialogs } from './UserDialogs';
import { userColumns } from './userColumns';

const words = texts.adminUsers;

export default function UsersPage() {
  const { filters, page, setFilters, setPage } = useListQuery(['keyword']);
  const users = useUsers(filters.keyword, page);
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
      <Group mb="md">
        <KeywordSearch
          label={words.search}
          keyword={filters.keyword}
          onSearch={(keyword) => setFilters({ keyword })}
        />
      </Group>
      <PagedTable
        label={words.title}
        columns={userColumns(open)}
        query={users}
        rowKey={(user) => user.id}
        page={page}
        onPage={setPage}
        empty={
          filters.keyword ? (
            <NoMatches onClear={() => setFilters({ keyword: '' })} />
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
