-- Usage from before its sums were kept.
select 1;
