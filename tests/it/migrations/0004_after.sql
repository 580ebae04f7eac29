select
    (select array_agg(array[used_quota, opening_used]) from users where id = 41) = '{{12,0}}'
    and (select array_agg(array[used_quota, opening_used]) from tokens where id = 41) = '{{12,0}}'
    and (select not bool_or(key_foreign) from tokens)
    and not exists (select from usage_imported)
    and not exists (select from imports)
