-- Names may not look like those of others. What a name looks like is kept as a range of texts: a name in ASCII is one
-- point in the range of its looks, so that names in ASCII never meet; any other name is the whole range, and so meets
-- everything that looks like it. Only the service can tell looks, and tells those of older accounts at its next start.
create type text_range as range (subtype = text, collation = "C");

alter table users add column username_looks text_range;

-- A deleted account gives its looks free, like its name.
alter table users add constraint users_username_looks_unique
    exclude using gist (username_looks with &&) where (deleted_time is null);

create index users_without_looks on users (id) where username_looks is null and deleted_time is null;

-- Those that ended are cleared away.
create index access_tokens_by_expiry on access_tokens (expires_at) where expires_at is not null;
