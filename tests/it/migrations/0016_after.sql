select count(*) > 0 and not bool_or(show_addresses) from tokens
