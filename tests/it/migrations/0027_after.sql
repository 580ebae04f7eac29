select to_regclass('charges_rest_held') is null
    and (select count(*) from charges where at >= 27 and hold_reason is not null) = 1
