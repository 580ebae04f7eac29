select count(*) = 0 from prices, price_lists
