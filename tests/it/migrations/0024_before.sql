-- The sample has an installation and tokens whose secrets are derived from the master key.
select 1;
