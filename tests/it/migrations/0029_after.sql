select (select count(*) = 4 and sum(found + violations) = 0 from invariants)
  and (select next_token = 0 and next_user = 0 and ended_time is null from proof_round)
  and (select bool_and(backup_time is null) from installation)
