-- Deleted tokens that can be restored. When their time is over, a job erases their encrypted key (`key_sealed` becomes empty) and their
-- row here. A table of its own, because an index of the deleted rows of `tokens` would lock that table while it is built.
create table restorable_tokens (
    token_id bigint constraint restorable_tokens_pkey primary key constraint restorable_tokens_token_fk references tokens (id),
    user_id bigint not null constraint restorable_tokens_user_fk references users (id),
    deleted_time bigint not null
);

create index restorable_tokens_by_user on restorable_tokens (user_id, deleted_time desc, token_id desc);
-- For the job.
create index restorable_tokens_by_time on restorable_tokens (deleted_time);

-- A trigger, so that servers of the version before add what they delete as well.
create function add_restorable_token() returns trigger language plpgsql as $$
begin
    insert into restorable_tokens (token_id, user_id, deleted_time) values (new.id, new.user_id, new.deleted_time)
    on conflict on constraint restorable_tokens_pkey do update set deleted_time = excluded.deleted_time;
    return null;
end
$$;

create trigger tokens_restorable after update of deleted_time on tokens
    for each row when (old.deleted_time is null and new.deleted_time is not null) execute function add_restorable_token();
