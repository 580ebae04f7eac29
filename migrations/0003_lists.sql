-- Filters, searches, sessions, activity and usage over longer ranges.

-- Lists of all users' live tokens, newest first.
create index tokens_live on tokens (id desc) where deleted_time is null;

-- Administrators find a key among those of all users by its first or its last characters. The hint has four of each.
create index tokens_by_first_characters on tokens (key_hint collate "C") where deleted_time is null;
create index tokens_by_last_characters on tokens (reverse(key_hint) collate "C") where deleted_time is null;

-- Written at most once a minute; null: never used since this migration.
alter table access_tokens add column last_used_time bigint;

alter table sessions
    -- Names a session in the API, which shows neither the secret in the cookie nor its digest.
    add column id bigint generated always as identity,
    -- Written at most once a minute; null: not used since this migration.
    add column last_seen_time bigint;

-- The audit log of some days.
create index audit_log_by_time on audit_log (at, id);

-- The usage of all tokens of a user by day.
create index usage_daily_by_user on usage_daily (user_id, day);

-- The usage of everyone by day, for administrators.
create index usage_daily_by_day on usage_daily (day);
