import { TokenLink, UserLink } from '../shared/links';

/** Links below each other, large enough to be tapped (WCAG 2.5.8). */
const target = { display: 'inline-block', lh: '24px' } as const;

interface Row {
  token_id?: number | null;
  token_name?: string | null;
  user_id?: number | null;
  username?: string | null;
}

/** The key of a row and its owner, each with a link. */
export function keyAndOwner({ token_id, token_name, user_id, username }: Row) {
  return (
    <>
      <TokenLink id={token_id} name={token_name} fw={600} {...target} />
      <div>
        <UserLink id={user_id} name={username} size="xs" {...target} />
      </div>
    </>
  );
}
