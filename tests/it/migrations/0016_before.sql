-- Tokens from before their holders could be shown addresses.
select 1;
