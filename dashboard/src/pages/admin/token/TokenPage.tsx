import { useParams } from 'wouter';
import { readId } from '../shared/id';
import { TokenDetails } from './TokenDetails';
import { TokenNotFound } from './TokenNotFound';

/** A key of any user, for administrators. */
export default function TokenPage() {
  const id = readId(useParams().id);
  return id === undefined ? <TokenNotFound /> : <TokenDetails id={id} />;
}
