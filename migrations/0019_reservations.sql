-- Each reservation looked its token and its user up again, and locked both, although its batch had just read and locked them. Rows
-- of neither table are ever deleted. `keymeter doctor` notices a reservation of another token or user (L3).
alter table reservations drop constraint reservations_token_fk, drop constraint reservations_user_fk;
