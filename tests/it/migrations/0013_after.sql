select
    (select count(*) from charges where at = 86400013 and model = 'o13') = 1
    and pg_get_functiondef('make_charges_partition'::regproc) like '%using brin (at)%'
