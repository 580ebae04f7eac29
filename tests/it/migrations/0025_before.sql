insert into prices (content, first_used_at) values ('{"prompt":1}', 1);
