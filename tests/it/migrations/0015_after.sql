select
    (select closed_until = '0001-01-01' and rolled_until = '0001-01-01' and rolling_until is null from usage_rollup)
    and (select count(*) from usage_by_model) = 0
    and (select count(*) from usage_by_month) = 0
