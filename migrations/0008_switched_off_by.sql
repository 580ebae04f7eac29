-- Who switched a token off or disabled an account, as a role: 1 the owner, 10 an administrator, 100 root. Nobody
-- below that role may undo it.
alter table tokens add column switched_off_by smallint;

-- Of earlier ones nobody knows. They stay as they were: the owner may switch them on.
update tokens set switched_off_by = 1 where not switched_on;

alter table tokens
    add constraint tokens_switched_off_by_known check (switched_off_by in (1, 10, 100)),
    add constraint tokens_switched_off_by_someone check (switched_on = (switched_off_by is null));

alter table users add column disabled_by smallint;

-- Only administrators could.
update users set disabled_by = 10 where status = 2;

alter table users
    add constraint users_disabled_by_known check (disabled_by in (10, 100)),
    add constraint users_disabled_by_someone check ((status = 2) = (disabled_by is not null));
