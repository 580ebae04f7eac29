select count(*) = 0 from restorable_tokens
