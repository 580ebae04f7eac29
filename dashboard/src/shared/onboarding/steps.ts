/** A step of a checklist. */
export interface Step<Name extends string> {
  name: Name;
  done: boolean;
}

export type UserStep = 'create' | 'copy' | 'call';

interface UserState {
  keys: number;
  /** A key was copied in this browser, or read back. */
  copied: boolean;
  /** Charged requests of the account. */
  requests: number;
}

/** The first steps of a user. A request shows that the others are done, even if the key is deleted. */
export function userSteps({ keys, copied, requests }: UserState): Step<UserStep>[] {
  const called = requests > 0;
  return [
    { name: 'create', done: called || keys > 0 },
    { name: 'copy', done: called || (keys > 0 && copied) },
    { name: 'call', done: called },
  ];
}

export type AdministratorStep = 'gateway' | 'groups' | 'models' | 'users';

interface AdministratorState {
  gateways: { credentials: unknown[] }[];
  /** The names of the groups. */
  groups: string[];
  models: string[];
  users: number;
}

/** What a new installation has. */
const FIRST_GROUP = 'default';
const FIRST_USERS = 1;

/** The first steps of an administrator. */
export function administratorSteps(state: AdministratorState): Step<AdministratorStep>[] {
  const { gateways, groups, models, users } = state;
  return [
    { name: 'gateway', done: gateways.some(({ credentials }) => credentials.length > 0) },
    { name: 'groups', done: groups.some((group) => group !== FIRST_GROUP) },
    { name: 'models', done: models.length > 0 },
    { name: 'users', done: users > FIRST_USERS },
  ];
}
