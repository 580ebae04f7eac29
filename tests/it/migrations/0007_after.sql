select array_agg(concat_ws(' ', kind, foreign_id, left(encode(digest, 'hex'), 4), name) order by kind, foreign_id)
    = '{access_token 7 7373,history 7,token 8 7171,token 9,user 7 Eve-7}'
from imports
