-- What an edit changed, field by field: `[{"field", "old", "new", "added", "removed", "left_out"}]`. Lines of other actions
-- and of older versions have none.
alter table audit_log add column changes jsonb not null default '[]';
