import createClient from 'openapi-fetch';
import type { paths } from '../../src/api/schema';
import { type Api, done } from './accounts';

/** The API with the credential of a new gateway. */
export async function asGateway(site: string, root: Api, name = 'story'): Promise<Api> {
  const { credential } = await done(root.POST('/api/admin/gateways', { body: { name } }));
  return createClient<paths>({ baseUrl: site, headers: { authorization: `Bearer ${credential}` } });
}
