import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '../../src/api/schema';
import { PASSWORD } from '../server/Server';

export type Api = Client<paths>;

export interface Account {
  username: string;
  password: string;
}

export interface Person extends Account {
  id: number;
}

export const ROOT: Account = { username: 'root', password: PASSWORD };

interface Answer<Body> {
  data?: Body;
  error?: unknown;
}

type Payload<Body> = Body extends { data: infer Data } ? Data : undefined;

/** The `data` of the envelope, of a call that must work. */
export async function done<Body>(pending: Promise<Answer<Body>>): Promise<Payload<Body>> {
  const { data, error } = await pending;
  if (error !== undefined) throw new Error(`the API refused: ${JSON.stringify(error)}`);
  return (data as { data?: unknown }).data as Payload<Body>;
}

/** The API as `root` uses it, to prepare what a story begins with. */
export async function asRoot(site: string): Promise<Api> {
  return signedIn(site, ROOT);
}

export async function signedIn(site: string, { username, password }: Account): Promise<Api> {
  const api = createClient<paths>({ baseUrl: site });
  const { response } = await api.POST('/api/user/login', { body: { username, password } });
  const cookie = response.headers.get('set-cookie')?.split(';')[0];
  if (!cookie) throw new Error(`${username} could not sign in: ${response.status}`);
  return createClient<paths>({ baseUrl: site, headers: { cookie, origin: site } });
}

let count = 0;

/** Somebody new, so that no story sees what another one did. */
export async function createUser(
  root: Api,
  name: string,
  wishes: Partial<components['schemas']['NewUserBody']> = {},
): Promise<Person> {
  count += 1;
  const username = `${name}-${process.pid}-${count}`;
  const body = { username, password: PASSWORD, token_api_enabled: true, quota: 50_000_000, ...wishes };
  const { id } = await done(root.POST('/api/admin/users', { body }));
  return { id, username, password: PASSWORD };
}

type Token = components['schemas']['TokenBody'];

export async function newKey(
  owner: Api,
  name: string,
  wishes: Partial<components['schemas']['CreateBody']> = {},
): Promise<Token> {
  const body = { name, remain_quota: 5_000_000, ...wishes };
  const headers = { Prefer: 'return=representation' };
  // The document describes the answer without this header, which has no token.
  const token: unknown = await done(owner.POST('/api/token/', { body, headers }));
  return token as Token;
}
