import { IconKeyOff } from '@tabler/icons-react';
import { listHref } from '../../../shared/listQuery';
import { texts } from '../../../texts';
import { NotFound } from '../shared/NotFound';

const words = texts.adminKey;

/** `id` is that of a deleted token, or of none. */
export function TokenNotFound({ id }: { id?: number }) {
  const audit = id === undefined ? [] : [auditLink(id)];
  return (
    <NotFound
      title={texts.key.title}
      icon={IconKeyOff}
      heading={texts.key.notFoundTitle}
      hint={words.notFound}
      links={[{ href: '/admin/tokens', label: texts.key.toKeys }, ...audit]}
    />
  );
}

function auditLink(id: number) {
  return { href: listHref('/admin/audit', { subject_kind: 'token', subject_id: id }), label: words.toAudit };
}
