select user_id = 901 and deleted_time = 7 from restorable_tokens where token_id = 922
