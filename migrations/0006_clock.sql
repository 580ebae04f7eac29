-- Finds the wallets that were charged while the database's clock was ahead: their day is in the future. The day changes with
-- the first charge of a day only, so all other charges still update a wallet without touching an index.
create index users_by_period_day on users (period_day);
