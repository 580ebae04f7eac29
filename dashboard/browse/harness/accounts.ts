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

/** Returns the `data` of the envelope. Throws if the API refuses. */
export async function done<Body>(pending: Promise<Answer<Body>>): Promise<Payload<Body>> {
  const { data, error } = await pending;
  if (error !== undefined) throw new Error(`the API refused: ${JSON.stringify(error)}`);
  return (data as { data?: unknown }).data as Payload<Body>;
}

/** The API with the session of `root`, to prepare a story. */
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

/** Creates a user, so that stories do not share data. */
export async function createUser(
  root: Api,
  name: string,
  overrides: Partial<components['schemas']['NewUserBody']> = {},
): Promise<Person> {
  count += 1;
  const username = `${name}-${process.pid}-${count}`;
  const body = { username, password: PASSWORD, token_api_enabled: true, quota: 50_000_000, ...overrides };
  const { id } = await done(root.POST('/api/admin/users', { body }));
  return { id, username, password: PASSWORD };
}

type Token = components['schemas']['TokenBody'];

export async function newKey(
  owner: Api,
  name: string,
  overrides: Partial<components['schemas']['CreateBody']> = {},
): Promise<Token> {
  const body = { name, remain_quota: 5_000_000, ...overrides };
  const headers = { Prefer: 'return=representation' };
  // The OpenAPI document describes the response without this header, which has no token.
  const token: unknown = await done(owner.POST('/api/token/', { body, headers }));
  return token as Token;
}
