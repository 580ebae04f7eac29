-- Each gateway kept its number, and its credential opens it as before.
select (
    select array_agg((g.name, encode(substr(c.digest, 1, 1), 'hex'), c.hint, c.created_time, c.created_by,
        c.last_used_time)::text order by g.id)
    from gateways g join gateway_credentials c on c.gateway_id = g.id
) = array['(edge,01,"",11,501,)', '(batch,02,"",12,,)']
and (select count(*) from receipts r join gateways g on g.id = r.gateway_id) = 2
