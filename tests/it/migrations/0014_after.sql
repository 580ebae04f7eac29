select
    (select requests from refused_requests where day = '2026-03-14') = 14
    and (select count(*) from refusals) = 0
