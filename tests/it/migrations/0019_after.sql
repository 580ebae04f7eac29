select token_id = 901 and user_id = 901 and held = 5 and state = 'open' from reservations where id = 901
