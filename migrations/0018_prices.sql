-- The prices by which charges were computed, and the price lists of the servers.

-- Each price once: its rates and the ratio of the group, in billionths, as JSON. `charges.price_id` names it, without a foreign
-- key: that would lock the same few rows for every charge. A row is never changed or deleted.
create table prices (
    id bigint generated always as identity constraint prices_pkey primary key,
    content text not null,
    first_used_at bigint not null,
    constraint prices_content_unique unique (content),
    constraint prices_content_length check (char_length(content) between 1 and 1000)
);

alter table reservations
    -- The ratio of the token's group when it was made, in billionths: its owner may change the group until it is settled. Null:
    -- an older version made it.
    add column ratio bigint;

-- Each list that a server had in force. Servers say each minute which one they have.
create table price_lists (
    -- SHA-256 of the list, in hexadecimal.
    digest text constraint price_lists_pkey primary key,
    -- Since when it is in force, without another one in between.
    since bigint not null,
    -- When a server had it the last time.
    seen_at bigint not null,
    constraint price_lists_digest_length check (char_length(digest) = 64),
    constraint price_lists_times check (since <= seen_at)
);
