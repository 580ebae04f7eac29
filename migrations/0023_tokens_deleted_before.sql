-- The tokens that were deleted before. In a transaction of its own, because the one that makes the trigger locks `tokens`.
insert into restorable_tokens (token_id, user_id, deleted_time)
select id, user_id, deleted_time from tokens where deleted_time is not null
on conflict on constraint restorable_tokens_pkey do nothing;
