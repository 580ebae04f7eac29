import { useParams } from 'wouter';
import { readId } from '../shared/id';
import { UserDetails } from './UserDetails';
import { UserNotFound } from './UserNotFound';

/** One user, for administrators. */
export default function UserPage() {
  const id = readId(useParams().id);
  return id === undefined ? <UserNotFound /> : <UserDetails key={id} id={id} />;
}
