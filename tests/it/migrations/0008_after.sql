select (select array_agg(switched_off_by order by id) from tokens where id in (801, 802)) = array[null, 1]::smallint[]
and (select array_agg(disabled_by order by id) from users where id in (801, 802)) = array[null, 10]::smallint[]
