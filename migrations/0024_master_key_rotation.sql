-- The master key can be changed: it then only encrypts the secrets of the installation, which stay.

-- The secrets of the installation, encrypted by a master key: one row, and two while the master key is changed. No row: the
-- secrets are derived from the master key, as before its first change.
create table wrapped_secrets (
    -- Ascends with each change. The highest is that of the newest master key.
    generation integer constraint wrapped_secrets_pkey primary key,
    -- Identifies the master key and does not reveal it, like `installation.key_check`.
    key_check bytea not null,
    wrapped bytea not null,
    constraint wrapped_secrets_key_check_unique unique (key_check),
    constraint wrapped_secrets_generation_positive check (generation > 0)
);

-- The data key that encrypts API keys now. Those who encrypt one lock this row in share mode until they commit, so that none
-- appears that a data key of before encrypted. A table of its own, because other rows of settings change at other times.
create table sealing_key (
    id smallint constraint sealing_key_pkey primary key,
    -- 0: derived from the master key.
    data_key_id integer not null,
    constraint sealing_key_one_row check (id = 1),
    constraint sealing_key_data_key_not_negative check (data_key_id >= 0)
);
insert into sealing_key (id, data_key_id) values (1, 0);

-- The id of the data key that encrypted a stored key: format 1 was derived from the master key, format 2 has the id in four
-- bytes. Null for anything else.
create function data_key_of(sealed bytea) returns integer language sql immutable as $$
    select case
        when octet_length(sealed) < 5 then null
        when get_byte(sealed, 0) = 1 then 0
        when get_byte(sealed, 0) = 2 and get_byte(sealed, 1) < 128 then
            (get_byte(sealed, 1) << 24) | (get_byte(sealed, 2) << 16) | (get_byte(sealed, 3) << 8) | get_byte(sealed, 4)
    end
$$;

-- Refuses keys that another data key than the present one encrypted, also from servers that do not know of a change. A row
-- that an older data key encrypted may be put back from a backup: the number of such rows does not grow by it.
create function check_data_key() returns trigger language plpgsql as $$
declare
    present integer := (select data_key_id from sealing_key where id = 1 for share);
begin
    if data_key_of(new.key_sealed) <> present
        and data_key_of(new.key_sealed) is distinct from data_key_of(old.key_sealed) then
        raise exception 'the key is encrypted by the data key %, and the present one is %',
            data_key_of(new.key_sealed), present
            using hint = 'restart this server with the new master key';
    end if;
    return new;
end
$$;

create trigger tokens_data_key before insert or update of key_sealed on tokens
    for each row execute function check_data_key();
