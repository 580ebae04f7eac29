-- A partition of an older version, with a charge.
select make_charges_partition(86400000);
insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens)
    values (86400013, 1, 1, 'o13', 7, 0, 0, 0);
