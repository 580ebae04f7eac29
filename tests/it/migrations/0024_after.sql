select (select array_agg(data_key_id) from sealing_key) = '{0}'
    and not exists (select from wrapped_secrets)
    and data_key_of('\x0100000000') = 0
    and data_key_of('\x0201020304ff') = 16909060
    and data_key_of('\x') is null
    and data_key_of('\x02ffffffff') is null
    and not exists (select from tokens where data_key_of(key_sealed) <> 0)
