import { useParams } from 'wouter';
import { KeyDetails } from './KeyDetails';
import { KeyNotFound } from './KeyNotFound';

export default function KeyPage() {
  const { id = '' } = useParams();
  return /^[1-9]\d{0,14}$/.test(id) ? <KeyDetails id={Number(id)} /> : <KeyNotFound />;
}
