import { IconWallet } from '@tabler/icons-react';
import { useAuditLog } from '../../../api/adminAudit';
import type { Column } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { LoadedTable } from '../../../shared/LoadedTable';
import { listHref } from '../../../shared/listQuery';
import { Money, type MoneyProps } from '../../../shared/Money';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { ActorLink } from '../audit/auditLinks';
import { SectionHeader } from '../shared/SectionHeader';
import { differenceOf, type WalletChange, walletChanges } from './walletChanges';

const words = texts.adminUser.wallet;
const LINES = 5;

/** Who added to the wallet or took from it. What keys spend is not among it. */
export function WalletSection({ userId }: { userId: number }) {
  const filter = { subject_kind: 'user', subject_id: String(userId), action: 'user.quota_granted' };
  const { data, error, refetch } = useAuditLog(filter, 0, LINES);
  return (
    <section>
      <SectionHeader
        title={words.history}
        href={listHref('/admin/audit', filter)}
        label={texts.adminUser.activity.all}
      />
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.history}
        columns={columns}
        rows={data && walletChanges(data.items)}
        rowKey={({ line }) => line.id}
        empty={<EmptyState icon={IconWallet} {...words.empty} />}
      />
    </section>
  );
}

const columns: Column<WalletChange>[] = [
  { key: 'time', header: words.columns.time, width: 150, cell: ({ line }) => <When seconds={line.at} /> },
  { key: 'by', header: words.columns.by, cell: ({ line }) => <ActorLink line={line} /> },
  {
    key: 'change',
    header: words.columns.change,
    place: 'title',
    align: 'right',
    cell: (change) => <Amount units={differenceOf(change)} change fw={600} />,
  },
  {
    key: 'before',
    header: words.columns.before,
    align: 'right',
    cell: ({ before }) => <Amount units={before} />,
  },
  {
    key: 'after',
    header: words.columns.after,
    align: 'right',
    cell: ({ after }) => <Amount units={after} />,
  },
  { key: 'note', header: words.columns.note, cell: ({ note }) => note },
];

function Amount({ units, ...props }: Partial<MoneyProps>) {
  return units === undefined ? '–' : <Money units={units} {...props} />;
}
