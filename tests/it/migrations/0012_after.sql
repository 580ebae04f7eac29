select changes = '[]' and details = '{"fields": "name"}' from audit_log where request_id = 'r12'
