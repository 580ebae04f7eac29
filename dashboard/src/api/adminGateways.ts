import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type Gateway = components['schemas']['GatewayBody'];

const gatewaysKey = ['admin', 'gateways'] as const;

export function useGateways() {
  return useQuery({
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
    // The answer holds the credential; it is not kept for longer than it is shown.
    gcTime: 0,
  });
}

export function useRevokeGateway() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => call(api.DELETE('/api/admin/gateways/{id}', { params: { path: { id } } })),
    // Not waited for: the list may take long to come where the server is away.
    onSettled: () => {
      client.invalidateQueries({ queryKey: gatewaysKey });
    },
  });
}
