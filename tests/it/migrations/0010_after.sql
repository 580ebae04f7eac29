select pg_get_indexdef('tokens_foreign'::regclass) like '%(id) WHERE key_foreign'
    and (select count(*) from tokens where id in (101, 102) and key_foreign) = 2
