-- Each reservation looked its token and its user up again, and locked both, although its batch had just read and locked them. Rows
-- of neither table are ever deleted. `keymeter doctor` notices an open reservation of another token or
-- user (L3).
-- Dropping them locks all three tables: in the order of the batches, so that no running batch is in the way.
lock table users, tokens, reservations in access exclusive mode;
alter table reservations drop constraint reservations_token_fk, drop constraint reservations_user_fk;
