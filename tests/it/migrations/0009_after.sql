select array_agg(network || ' ' || last_time order by network) = array['192.0.2.1 10000005', '2001:db8:0:7:: 10000006']
    and bool_and(user_id = 1)
from sign_in_networks;
