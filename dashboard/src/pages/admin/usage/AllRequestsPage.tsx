import { useStatus } from '../../../api/status';
import { PageHeader } from '../../../shared/PageHeader';
import { ListSkeleton } from '../../../shared/Skeletons';
import { texts } from '../../../texts';
import { RequestHistory } from '../../requests/RequestHistory';
import { AdminFilters } from './AdminFilters';

/** The single requests of all users, or of one of them. */
export default function AllRequestsPage() {
  const { data: status } = useStatus();
  return (
    <>
      <PageHeader title={texts.adminUsage.requests} description={texts.usage.requestHistory.description} />
      {/* The days are those of the server. */}
      {status ? (
        <RequestHistory
          scope="allUsers"
          timeZone={status.time_zone}
          extraFilters={(filters, onFilter) => <AdminFilters filters={filters} onFilter={onFilter} />}
        />
      ) : (
        <ListSkeleton />
      )}
    </>
  );
}
