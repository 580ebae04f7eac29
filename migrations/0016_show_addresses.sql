-- Whether whoever has the key sees the addresses of its requests.
alter table tokens add column show_addresses boolean not null default false;
