-- A charge of before there were units.
insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens)
values (26, 901, 901, 'o1', 5, 0, 7, 3);
