import { IconUserOff } from '@tabler/icons-react';
import { listHref } from '../../../shared/listQuery';
import { texts } from '../../../texts';
import { NotFound } from '../shared/NotFound';

const words = texts.adminUser;

/** `id` is that of a deleted user, or of none. */
export function UserNotFound({ id }: { id?: number }) {
  const { title, hint, toUsers } = words.notFound;
  const audit = id === undefined ? [] : [auditLink(id)];
  return (
    <NotFound
      title={words.title}
      icon={IconUserOff}
      heading={title}
      hint={hint}
      links={[{ href: '/admin/users', label: toUsers }, ...audit]}
    />
  );
}

function auditLink(id: number) {
  return { href: listHref('/admin/audit', { user_id: id }), label: words.notFound.toAudit };
}
