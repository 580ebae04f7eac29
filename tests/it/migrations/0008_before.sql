update tokens set model_limits = 'gpt-4o,foo*', version = 7 where id = (select min(id) from tokens);
