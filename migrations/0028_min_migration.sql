-- rolling: yes
-- The oldest newest migration of a program that may use this database: of one that was made before a migration that its
-- statements do not survive.
alter table installation add column min_migration bigint not null default 0;
alter table installation add constraint installation_min_migration check (min_migration >= 0) not valid;
