-- rolling: yes
-- What all servers are doing. Each says every ten seconds that it runs; rows of servers that ended go after an hour.
create table servers (
    id text constraint servers_pkey primary key,
    name text not null,
    version text not null,
    newest_migration bigint not null,
    -- The settings that administrators see, by name; no secret is among them.
    settings jsonb not null,
    started_time bigint not null,
    seen_time bigint not null,
    constraint servers_name_length check (length(name) between 1 and 255),
    constraint servers_started_before_seen check (started_time <= seen_time)
);

-- The ledger is proved all the time, in rounds of slices: what the round that goes on has found, and what the last one had.
create table invariants (
    name text constraint invariants_pkey primary key,
    found bigint not null default 0,
    violations bigint not null default 0,
    constraint invariants_counts check (found >= 0 and violations >= 0)
);
insert into invariants (name) values ('L3'), ('L5'), ('L9'), ('L10');

-- Where the next slice begins; null when the round has proved the last token or wallet.
create table proof_round (
    id smallint constraint proof_round_pkey primary key default 1,
    next_token bigint default 0,
    next_user bigint default 0,
    -- When the last slice was proved.
    slice_time bigint,
    -- The end of the last round.
    ended_time bigint,
    constraint proof_round_one_row check (id = 1)
);
insert into proof_round default values;

-- The end of the last `keymeter backup`.
alter table installation add column backup_time bigint;
