select not exists (select 1 from refused_requests) and exists (select 1 from tokens);
