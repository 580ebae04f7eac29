-- What a user spent is the sum over all tokens the user ever had; tokens_of_user knows only the live ones.
create index tokens_of_user_ever on tokens (user_id);
