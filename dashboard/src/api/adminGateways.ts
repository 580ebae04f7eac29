import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type Gateway = components['schemas']['GatewayBody'];
export type Credential = components['schemas']['CredentialBody'];

const gatewaysKey = ['admin', 'gateways'] as const;

export function useGateways(enabled = true) {
  return useQuery({
    enabled,
    queryKey: gatewaysKey,
    queryFn: ({ signal }) => call(api.GET('/api/admin/gateways', { signal })),
  });
}

export function useCreateGateway() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => call(api.POST('/api/admin/gateways', { body: { name } })),
    onSuccess: () => {
      client.invalidateQueries({ queryKey: gatewaysKey });
    },
    // The response contains the credential, so it must not stay in the cache.
    gcTime: 0,
  });
}

/** The response contains the credential, as with a new gateway. */
export function useCreateCredential() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (gateway: number) =>
      call(api.POST('/api/admin/gateways/{id}/credentials', { params: { path: { id: gateway } } })),
    // Also after a failure: other administrators may have created credentials.
    onSettled: () => {
      client.invalidateQueries({ queryKey: gatewaysKey });
    },
    gcTime: 0,
  });
}

export function useRevokeCredential() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ gateway, credential }: { gateway: number; credential: number }) => {
      const path = { id: gateway, cid: credential };
      return call(api.DELETE('/api/admin/gateways/{id}/credentials/{cid}', { params: { path } }));
    },
    onSettled: () => {
      client.invalidateQueries({ queryKey: gatewaysKey });
    },
  });
}

export function useRemoveGateway() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => call(api.DELETE('/api/admin/gateways/{id}', { params: { path: { id } } })),
    // Not awaited: the dialog closes without waiting for the list.
    onSettled: () => {
      client.invalidateQueries({ queryKey: gatewaysKey });
    },
  });
}
