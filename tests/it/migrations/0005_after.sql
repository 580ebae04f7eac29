select (select charges_since from installation) = 1773014400 -- 2026-03-09, the oldest day that is left
