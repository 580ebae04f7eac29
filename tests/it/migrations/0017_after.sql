select count(*) = 0 from requests_imported
