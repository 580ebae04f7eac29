import { useStatus } from '../../api/status';
import { PageHeader } from '../../shared/PageHeader';
import { ListSkeleton } from '../../shared/Skeletons';
import { texts } from '../../texts';
import { OwnKeyFilter } from './OwnKeyFilter';
import { RequestHistory } from './RequestHistory';

const words = texts.usage.requestHistory;

/** The single requests of this user. */
export default function RequestsPage() {
  const { data: status } = useStatus();
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      {/* The days are those of the server. */}
      {status ? (
        <RequestHistory
          scope="own"
          timeZone={status.time_zone}
          extraFilters={({ token_id }, onFilter) => (
            <OwnKeyFilter value={token_id} onChange={(id) => onFilter({ token_id: id })} />
          )}
        />
      ) : (
        <ListSkeleton />
      )}
    </>
  );
}
