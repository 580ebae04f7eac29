-- A second session of the same user, and one of nobody.

insert into sessions (digest, data, expires_at) values ('\x02', '{"user_id": 1}', 2), ('\x03', '{}', 3);
