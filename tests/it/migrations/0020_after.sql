select count(*) = 0 from old_keys
