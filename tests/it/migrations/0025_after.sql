select (select array_agg(content) from prices) = '{"{\"prompt\":1}"}'
    and not exists (select from price_versions)
