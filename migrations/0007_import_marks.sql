-- What an imported row was like when it was imported. Another run compares it with the other database, and so does not take
-- one installation for another: ids and usernames alone are the same in many.

alter table imports
    -- The keyed digest of the key of a token, of an access token, or of the password hash of an account. Nothing that
    -- happens here later changes it. Null: there was none, or it is not known.
    add column digest bytea,
    -- The username of an account there, cut to 100 characters.
    add column name text,
    add constraint imports_digest_length check (octet_length(digest) = 32);

-- A key that has a checksum may have been made here since.
update imports i set digest = t.key_digest from tokens t where i.kind = 'token' and t.id = i.local_id and t.key_foreign;
update imports i set digest = a.digest from access_tokens a where i.kind = 'access_token' and a.id = i.local_id;
-- The name here may have a suffix; the comparison knows that.
update imports i set name = u.username from users u where i.kind = 'user' and u.id = i.local_id;

-- A key that was replaced here stays taken.
create index imports_by_key on imports (digest) where kind = 'token' and digest is not null;

-- Finds out whether any account still has a bcrypt hash: as long as there is one, refused sign-ins take longer.
create index users_with_bcrypt_hash on users (id) where password_hash like '$2%' and deleted_time is null;
