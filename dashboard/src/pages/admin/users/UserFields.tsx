import { Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import type { Role, User } from '../../../api/session';
import { useStatus } from '../../../api/status';
import { roleName } from '../../../format/role';
import { texts } from '../../../texts';
import { GroupSelect } from './GroupSelect';
import { isEnabledByRole } from './permissions';
import type { UserForm } from './userForm';

interface Props {
  form: UseFormReturnType<UserForm>;
  /** The roles that can be assigned. With a single role there is no field. */
  roles: Role[];
  /** The account to edit. Absent for a new account. */
  user?: User;
  /** Further fields for the grid. */
  children?: ReactNode;
}

const words = texts.adminUsers.fields;

export function UserFields({ form, roles, user, children }: Props) {
  const status = useStatus();
  const isOpenToAll = status.data !== undefined && status.data.token_api !== 'by_request';
  const { role } = form.values;
  const isAlwaysEnabled = isEnabledByRole(role) || isOpenToAll;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={words.displayName}
          placeholder={user?.username}
          autoComplete="off"
          {...form.getInputProps('display_name')}
        />
        <TextInput label={words.email} type="email" autoComplete="off" {...form.getInputProps('email')} />
        {roles.length > 1 && (
          <Select
            label={words.role}
            allowDeselect={false}
            data={roles.map((each) => ({ value: String(each), label: roleName(each) }))}
            value={String(role)}
            onChange={(value) => {
              const selected = roles.find((each) => String(each) === value);
              if (selected) form.setFieldValue('role', selected);
            }}
          />
        )}
        <GroupSelect present={user?.group} {...form.getInputProps('group')} />
        <TextInput
          label={words.limit}
          placeholder={words.limitDefault}
          inputMode="numeric"
          {...form.getInputProps('max_tokens')}
        />
        {children}
      </SimpleGrid>
      <Switch
        label={words.tokenApi}
        description={
          isEnabledByRole(role) ? words.tokenApiByRole : isOpenToAll ? words.tokenApiOpen : words.tokenApiHint
        }
        disabled={isAlwaysEnabled}
        {...form.getInputProps('token_api_enabled', { type: 'checkbox' })}
        checked={isAlwaysEnabled || form.values.token_api_enabled}
      />
    </>
  );
}
