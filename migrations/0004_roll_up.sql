-- Every first charge of a day looked its token up once more for this. Tokens are never removed, and only the
-- ledger writes here, for tokens that it has just read.
alter table usage_daily drop constraint usage_daily_token_fk;
