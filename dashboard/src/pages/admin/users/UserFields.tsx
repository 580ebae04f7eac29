import { Autocomplete, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Role, User } from '../../../api/session';
import { useStatus } from '../../../api/status';
import { useGroups } from '../../../api/tokenOptions';
import { roleName } from '../../../format/role';
import { texts } from '../../../texts';
import { isEnabledByRole } from './permissions';
import type { UserForm } from './userForm';

interface Props {
  form: UserForm;
  onChange: (change: Partial<UserForm>) => void;
  /** The roles that can be assigned. With a single role there is no field. */
  roles: Role[];
  /** The account to edit. Absent for a new account. */
  user?: User;
  limitError: string | undefined;
  /** Further fields for the grid. */
  children?: ReactNode;
}

const words = texts.adminUsers.fields;

export function UserFields({ form, onChange, roles, user, limitError, children }: Props) {
  const groups = useGroups();
  const status = useStatus();
  const isOpenToAll = status.data !== undefined && status.data.token_api !== 'by_request';
  const isAlwaysEnabled = isEnabledByRole(form.role) || isOpenToAll;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={words.displayName}
          placeholder={user?.username}
          autoComplete="off"
          value={form.display_name}
          onChange={(event) => onChange({ display_name: event.currentTarget.value })}
        />
        <TextInput
          label={words.email}
          type="email"
          autoComplete="off"
          value={form.email}
          onChange={(event) => onChange({ email: event.currentTarget.value })}
        />
        {roles.length > 1 && (
          <Select
            label={words.role}
            allowDeselect={false}
            data={roles.map((role) => ({ value: String(role), label: roleName(role) }))}
            value={String(form.role)}
            onChange={(value) => {
              const role = roles.find((each) => String(each) === value);
              if (role) onChange({ role });
            }}
          />
        )}
        <Autocomplete
          label={words.group}
          placeholder={user ? undefined : words.defaultGroup}
          data={Object.keys(groups.data ?? {})}
          value={form.group}
          onChange={(group) => onChange({ group })}
        />
        <TextInput
          label={words.limit}
          placeholder={words.limitDefault}
          inputMode="numeric"
          error={limitError}
          value={form.max_tokens}
          onChange={(event) => onChange({ max_tokens: event.currentTarget.value })}
        />
        {children}
      </SimpleGrid>
      <Switch
        label={words.tokenApi}
        description={
          isEnabledByRole(form.role)
            ? words.tokenApiByRole
            : isOpenToAll
              ? words.tokenApiOpen
              : words.tokenApiHint
        }
        disabled={isAlwaysEnabled}
        checked={isAlwaysEnabled || form.token_api_enabled}
        onChange={(event) => onChange({ token_api_enabled: event.currentTarget.checked })}
      />
    </>
  );
}
