-- Requests that were refused before their single rows were kept.
insert into refused_requests (user_id, day, token_id, reason, requests) values (1, '2026-03-14', 1, 'token_expired', 14);
