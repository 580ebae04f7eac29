-- Single requests that another service charged before an import (docs/moving-in.md). Only lists read them, never reports, the
-- ledger or its checks. Deleted when they are as old as charges that are deleted.
create table requests_imported (
    id bigint generated always as identity,
    -- The name of the other installation, and its id of the request.
    source text not null,
    foreign_id bigint not null,
    at bigint not null,
    user_id bigint not null,
    token_id bigint not null,
    model text not null,
    quota bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint requests_imported_pkey primary key (source, foreign_id),
    constraint requests_imported_not_negative check (quota >= 0 and prompt_tokens >= 0 and completion_tokens >= 0)
);

create index requests_imported_of_user on requests_imported (user_id, at);
create index requests_imported_of_token on requests_imported (token_id, at);
create index requests_imported_by_time on requests_imported (at);
