-- A gateway keeps its id while its credentials change: request ids and reservations belong to the gateway, so
-- a retry with a new credential finds what was answered to the old one.
create table gateway_credentials (
    id bigint generated always as identity constraint gateway_credentials_pkey primary key,
    gateway_id bigint not null
        constraint gateway_credentials_gateway_fk references gateways (id) on delete cascade,
    digest bytea not null,
    -- The last characters of the credential; empty where it was made before they were kept.
    hint text not null,
    created_time bigint not null,
    created_by bigint constraint gateway_credentials_created_by_fk references users (id),
    -- At most once a minute, so that asking writes next to nothing.
    last_used_time bigint,
    constraint gateway_credentials_digest_unique unique (digest),
    constraint gateway_credentials_digest_whole check (octet_length(digest) = 32),
    constraint gateway_credentials_hint_short check (char_length(hint) <= 4)
);

create index gateway_credentials_by_gateway on gateway_credentials (gateway_id, id desc);

-- Until now a gateway was its one credential.
insert into gateway_credentials (gateway_id, digest, hint, created_time, created_by)
select id, digest, '', created_time, created_by from gateways order by id;

alter table gateways drop column digest;
