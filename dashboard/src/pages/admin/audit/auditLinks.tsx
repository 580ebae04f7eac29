import type { AuditLine } from '../../../api/adminAudit';
import { Name } from '../../../shared/Name';
import { TokenLink, UserLink } from '../shared/links';
import { actorName, subjectName } from './auditText';

interface Props {
  line: AuditLine;
}

/** Who did it, with a link to the user. */
export function ActorLink({ line }: Props) {
  return <UserLink id={line.actor_id} name={actorName(line)} inherit />;
}

/** What it was done to, with a link to the user or key if it still exists. */
export function SubjectLink({ line }: Props) {
  const { subject_kind, subject_id, subject_name } = line;
  const id = subject_name == null ? undefined : subject_id;
  const name = subjectName(line);
  if (subject_kind === 'token') return <TokenLink id={id} name={name} inherit />;
  if (subject_kind === 'user') return <UserLink id={id} name={name} inherit />;
  return <Name>{name}</Name>;
}
