import { useGateways } from '../../../api/adminGateways';
import { useAnyToken } from '../../../api/adminTokens';
import { useAccount } from '../../../api/adminUsers';
import type { RequestFilters } from '../../../shared/usage/requestFilters';
import { texts } from '../../../texts';
import { FilterChip } from '../../requests/filters/FilterChip';
import { UserSelect } from '../shared/UserSelect';
import { AnyKeySelect } from './AnyKeySelect';
import { GatewaySelect } from './GatewaySelect';

const words = texts.adminUsage;
const LOADING = '…';

interface Props {
  filters: RequestFilters;
  onFilter: (change: Partial<RequestFilters>) => void;
}

/** The filters of requests that only administrators have, and that by key. What an address names may be gone. */
export function AdminFilters(props: Props) {
  return (
    <>
      <UserFilter {...props} />
      <AnyKeyFilter {...props} />
      <GatewayFilter {...props} />
    </>
  );
}

function UserFilter({ filters: { user_id }, onFilter }: Props) {
  const account = useAccount(user_id ? Number(user_id) : undefined);
  const gone = account.isError && texts.adminLists.userNumber(Number(user_id));
  const choose = (id: string) => onFilter({ user_id: id, token_id: '' });
  return (
    <FilterChip
      name={words.user}
      value={user_id && (gone || (account.data?.username ?? LOADING))}
      onClear={() => choose('')}
    >
      {(close) => (
        <UserSelect
          aria-label={words.user}
          placeholder={words.allUsers}
          comboboxProps={{ withinPortal: false }}
          value={user_id}
          onChange={(id) => {
            choose(id);
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

function AnyKeyFilter({ filters: { user_id, token_id }, onFilter }: Props) {
  const { data, isError } = useAnyToken(token_id ? Number(token_id) : undefined);
  const known = data && (user_id ? data.name : texts.usage.recent.of(data.name, data.username));
  const gone = isError && texts.adminLists.keyNumber(Number(token_id));
  const name = gone || (known ?? LOADING);
  return (
    <FilterChip name={texts.usage.key} value={token_id && name} onClear={() => onFilter({ token_id: '' })}>
      {(close) => (
        <AnyKeySelect
          userId={user_id}
          value={token_id}
          chosen={name}
          onChange={(id) => {
            onFilter({ token_id: id });
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

function GatewayFilter({ filters: { gateway_id }, onFilter }: Props) {
  const { data: gateways } = useGateways();
  const gone = gateways && texts.usage.requestHistory.removedGateway(Number(gateway_id));
  const known = gateways?.find(({ id }) => String(id) === gateway_id)?.name;
  return (
    <FilterChip
      name={words.gateway}
      value={gateway_id && (known ?? gone ?? LOADING)}
      onClear={() => onFilter({ gateway_id: '' })}
    >
      {(close) => (
        <GatewaySelect
          value={gateway_id}
          onChange={(id) => {
            onFilter({ gateway_id: id });
            close();
          }}
        />
      )}
    </FilterChip>
  );
}
