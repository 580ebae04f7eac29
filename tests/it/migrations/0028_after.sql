select bool_and(min_migration = 0) from installation
