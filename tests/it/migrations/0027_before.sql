-- A charge of before there was the index: its partition does without.
insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens, hold_reason)
values (27, 901, 901, 'o1', 5, 0, 7, 3, 'no_input');
