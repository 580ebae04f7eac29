import { useSearchParams } from 'wouter';
import { useStatus } from '../../../api/status';
import { readSpan, type Span, withSpan } from './span';

/** The time of requests that is asked for, kept in the query string. Load the status before. */
export function useSpan(today: string) {
  const [params, setParams] = useSearchParams();
  const { data: status } = useStatus();
  return {
    span: readSpan(params, today, status?.week_starts ?? 'monday'),
    setSpan: (span: Span) => setParams((current) => withSpan(current, span), { replace: true }),
  };
}
