select (select array_agg(prompt_tokens) from charges
        where at = 26 and units is null and hold_reason is null and settled_digest is null) = '{7}'
    and not exists (select from reservations where asked is not null)
