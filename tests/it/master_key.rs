//! Specification §2.1 and §12: the master key is changed while servers run (`keymeter master-key`).
//!
//! `KEYMETER_ROTATED_KEYS` and `KEYMETER_ROTATION_KILLS` make a larger rehearsal.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keymeter::domain::cell::CellLabel;
use keymeter::domain::id::TokenId;
use keymeter::domain::key::ApiKey;
use keymeter::service::rng::Rng;
use keymeter::service::secrets::Secrets;
use keymeter::service::vault::{MasterKey, Vault};
use keymeter::storage::secrets;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection, PgPool};

use crate::harness::cluster;
use crate::harness::database::{contents, empty, url};
use crate::harness::process::{keymeter, run};
use crate::harness::{Client, MASTER_KEY, Server};

const NEW_KEY: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";
const THIRD_KEY: &str = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";
const FINISHED: &str = "the old master key opens nothing any more; destroy it when you need no backup from before\n";

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A file with a master key.
fn key_file(dir: &Path, name: &str, key: &str) -> PathBuf {
    let file = dir.join(name);
    std::fs::write(&file, format!("{key}\n")).unwrap();
    file
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The message of a command that failed.
fn refused(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap().trim().to_owned()
}

/// Adds tokens of a user, each with a key that the vault encrypts. Returns the keys.
async fn add_tokens(pool: &PgPool, vault: &Vault, user: i64, count: usize) -> Vec<String> {
    let (mut keys, mut digests, mut sealed) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let (key, row) = Rng::system().generate_fast(|rng| {
            let key = ApiKey::generate(rng, CellLabel::default());
            let row = vault.seal(&key, rng);
            (key, row)
        });
        keys.push(key.expose().to_owned());
        digests.push(row.digest.as_bytes().to_vec());
        sealed.push(row.sealed);
    }
    sqlx::query(
        "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time, accessed_time, \
         remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, group_name, \
         cross_group_retry) select $3, digest, sealed, 'abcdwxyz', 'one', 'one', '', 0, 0, 1000, false, 0, false, '', '', '', \
         false from unnest($1::bytea[], $2::bytea[]) as k (digest, sealed)",
    )
    .bind(&digests)
    .bind(&sealed)
    .bind(user)
    .execute(pool)
    .await
    .unwrap();
    keys
}

/// How many keys another data key than the present one encrypted.
async fn left(pool: &PgPool) -> i64 {
    let sql = "select count(*) from tokens, sealing_key where data_key_of(key_sealed) <> data_key_id";
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// What was made before the change, and must work at any time.
struct Before {
    session: Client,
    access_token: Client,
    gateway: Client,
    token: i64,
    key: String,
    charge: Value,
    charged: Value,
}

impl Before {
    async fn make(server: &Server) -> Self {
        let root = Client::root(server).await;
        let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        let account =
            json!({ "username": "ana", "password": "ana's password", "token_api_enabled": true, "quota": 1_000_000 });
        root.post("/api/admin/users", account).await.ok();
        let session = Client::signed_in(server, "ana", "ana's password").await;
        let access_token = session.get("/api/user/token").await.ok();
        let access_token = Client::with(server, access_token.as_str().unwrap());
        let gateway = Client::with(server, gateway["credential"].as_str().unwrap());
        let (token, key) = access_token.creates(json!({ "name": "old", "remain_quota": 1_000 })).await.unwrap();
        let charge = json!({ "key": key, "quota": 40, "request_id": "once" });
        let charged = gateway.post("/api/gateway/charge", charge.clone()).await.ok();
        Self { session, access_token, gateway, token, key, charge, charged }
    }

    /// The same callers at another server.
    fn at(&self, server: &Server) -> Self {
        let at = |client: &Client| {
            let mut client = client.clone();
            client.base.clone_from(&server.base);
            client
        };
        let mut session = at(&self.session);
        session.headers.insert("origin", server.base.parse().unwrap());
        Self {
            session,
            access_token: at(&self.access_token),
            gateway: at(&self.gateway),
            key: self.key.clone(),
            charge: self.charge.clone(),
            charged: self.charged.clone(),
            ..*self
        }
    }

    /// Everything from before works, and a new key as well.
    async fn assert_works(&self) {
        self.session.get("/api/user/self").await.ok();
        let token = self.access_token.get(&format!("/api/token/{}", self.token)).await.ok();
        assert_eq!(token["key"], json!(self.key));
        self.gateway.post("/api/gateway/verify", json!({ "key": self.key })).await.ok();
        let again = self.gateway.post("/api/gateway/charge", self.charge.clone()).await.ok();
        for field in ["charged", "token_id", "request_id"] {
            assert_eq!(again[field], self.charged[field], "{again}");
        }
        assert_eq!(self.access_token.get(&format!("/api/token/{}", self.token)).await.ok()["used_quota"], json!(40));
        let (id, key) = self.access_token.creates(json!({ "name": "new", "remain_quota": 10 })).await.unwrap();
        assert_eq!(self.session.get(&format!("/api/token/{id}")).await.ok()["key"], json!(key));
        self.gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
        // A rotation, and a deletion that is taken back.
        let rotated = self.access_token.post(&format!("/api/token/{id}/rotate"), json!({})).await.ok();
        self.access_token.delete(&format!("/api/token/{id}")).await.ok();
        self.access_token.post(&format!("/api/token/{id}/restore"), json!({})).await.ok();
        let read = self.session.get(&format!("/api/token/{id}")).await.ok();
        assert_eq!(read["key"], rotated["key"]);
        let valid = self.gateway.post("/api/gateway/verify", json!({ "key": read["key"] })).await.ok();
        assert_eq!(valid["valid"], json!(true));
    }
}

/// Verifies keys until it is told to stop. Each must be accepted.
fn verify_load(gateway: &Client, keys: &Arc<Vec<String>>, stop: &Arc<AtomicBool>) -> tokio::task::JoinHandle<u64> {
    let (gateway, keys, stop) = (gateway.clone(), Arc::clone(keys), Arc::clone(stop));
    tokio::spawn(async move {
        let verified = AtomicU64::new(0);
        for key in keys.iter().cycle() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
            verified.fetch_add(1, Ordering::Relaxed);
        }
        verified.into_inner()
    })
}

#[sqlx::test(migrations = false)]
async fn the_master_key_is_changed_under_load_killed_anywhere_and_continued(pool: PgPool) {
    let (count, kills) = (number("KEYMETER_ROTATED_KEYS", 2_000), number("KEYMETER_ROTATION_KILLS", 3));
    empty(&pool).await;
    let (dir, other_dir, database) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), url(&pool));
    let at = |key| [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", key)];
    let new_key_file = key_file(dir.path(), "new.key", NEW_KEY);
    let rotate = ["master-key", "rotate", "--new-key-file", new_key_file.to_str().unwrap()];
    let mut server = Server::start(dir.path(), &at(MASTER_KEY)).await;
    let before = Before::make(&server).await;
    let old = MasterKey::from_hex(MASTER_KEY).unwrap();
    let user: i64 = sqlx::query_scalar("select id from users where username = 'ana'").fetch_one(&pool).await.unwrap();
    let keys = Arc::new(add_tokens(&pool, &Vault::new(&old), user, count).await);
    sqlx::query("update users set max_tokens = 1000000").execute(&pool).await.unwrap();
    sqlx::query(
        "update tokens set deleted_time = extract(epoch from now()) where id = (select max(id) - 1 from tokens)",
    )
    .execute(&pool)
    .await
    .unwrap();
    let keys_of_load = Arc::new(keys[..count - 2].to_vec());
    before.assert_works().await;

    let stop = Arc::new(AtomicBool::new(false));
    let load = verify_load(&before.gateway, &keys_of_load, &stop);
    // A change cannot end while somebody holds the newest token.
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select from tokens order by id desc limit 1 for update").execute(&mut *holder).await.unwrap();
    for kill in 1..=kills {
        let mut command = keymeter(dir.path(), &at(MASTER_KEY));
        let mut rotation = command.args(rotate).stdout(Stdio::null()).spawn().unwrap();
        let goal = i64::try_from(count - count * kill / (kills + 1)).unwrap();
        let begun = "select count(*) from wrapped_secrets";
        while sqlx::query_scalar::<_, i64>(begun).fetch_one(&pool).await.unwrap() < 2 || left(&pool).await > goal {
            assert!(rotation.try_wait().unwrap().is_none());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        rotation.kill().unwrap();
        rotation.wait().unwrap();
        println!("killed with {} keys left", left(&pool).await);
        assert!(left(&pool).await > 0);
        before.assert_works().await;
    }
    let mut new_server = Server::start(other_dir.path(), &at(NEW_KEY)).await;
    before.at(&new_server).assert_works().await;
    let keys_left = left(&pool).await;
    let all: i64 = sqlx::query_scalar("select count(*) from tokens").fetch_one(&pool).await.unwrap();
    let doctor = said(&run(dir.path(), &at(MASTER_KEY), &["doctor"]));
    let progress = format!(
        "note   master key: it is being changed, and both open the database; {} of {all} keys are encrypted again; run \
         `keymeter master-key rotate` again\n",
        all - keys_left
    );
    assert!(doctor.contains(&progress), "{doctor}");

    // The newest token is charged all the time: as soon as one transaction leaves it, the next one has it.
    let busy: Vec<_> = (0..3).map(|_| tokio::spawn(hold_newest_token(pool.connect_options()))).collect();
    holder.rollback().await.unwrap();
    let mut rotation = keymeter(dir.path(), &at(MASTER_KEY));
    let rotation = rotation.args(rotate).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = tokio::task::spawn_blocking(move || rotation.wait_with_output().unwrap()).await.unwrap();
    let output = said(&output);
    assert!(output.contains("all keys are encrypted again\n"), "{output}");
    for task in busy {
        assert!(!task.is_finished());
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    assert_eq!(left(&pool).await, 0);
    before.assert_works().await;
    let doctor = said(&run(dir.path(), &at(MASTER_KEY), &["doctor"]));
    assert!(doctor.contains("then run `keymeter master-key finish`\n"), "{doctor}");
    assert_eq!(
        refused(&run(dir.path(), &at(MASTER_KEY), &["master-key", "finish"])),
        "keymeter: the settings have the old master key; give all servers the new one, restart them, and run this again"
    );
    assert_eq!(said(&run(dir.path(), &at(NEW_KEY), &["master-key", "finish"])), FINISHED);
    stop.store(true, Ordering::Relaxed);
    println!("{} keys were verified meanwhile", load.await.unwrap());
    // A server that was not restarted goes on.
    before.assert_works().await;
    before.at(&new_server).assert_works().await;
    server.terminate();
    new_server.terminate();

    let wrong =
        "the master key does not match this database; use the one it was created with (KEYMETER_SECRETS__MASTER_KEY or";
    assert!(refused(&run(dir.path(), &at(MASTER_KEY), &["serve"])).contains(wrong));
    assert_opens_nothing(&pool, &old).await;
    assert_dump_opens(&pool, other_dir.path()).await;
    // The next change begins with random secrets.
    let third = key_file(dir.path(), "third.key", THIRD_KEY);
    said(&run(dir.path(), &at(NEW_KEY), &["master-key", "rotate", "--new-key-file", third.to_str().unwrap()]));
    said(&run(dir.path(), &at(THIRD_KEY), &["master-key", "finish"]));
    let server = Server::start(dir.path(), &at(THIRD_KEY)).await;
    before.at(&server).assert_works().await;
    assert_opens_nothing(&pool, &MasterKey::from_hex(NEW_KEY).unwrap()).await;
}

/// Nothing in the database can be decrypted with this master key.
async fn assert_opens_nothing(pool: &PgPool, master: &MasterKey) {
    let wrapped: Vec<Vec<u8>> =
        sqlx::query_scalar("select wrapped from wrapped_secrets").fetch_all(pool).await.unwrap();
    assert_eq!(wrapped.len(), 1);
    assert!(wrapped.iter().all(|wrapped| Secrets::unwrap(master, wrapped).is_none()));
    assert!(!contents(pool).await.contains(&hex_of(&master.check())));
    let derived = Vault::new(master);
    let mut conn = keymeter::storage::Db::new(pool.clone()).acquire().await.unwrap();
    let ids = secrets::list_sealed_by_others(&mut conn, -1, TokenId::new(0), 1_000_000).await.unwrap();
    let keys = secrets::try_lock_sealed_by_others(&mut conn, -1, &ids).await.unwrap();
    assert!(!keys.is_empty() && keys.iter().all(|key| derived.open(&key.key_digest, &key.key_sealed).is_err()));
    // Nobody can write a key that the derived data key encrypted, either.
    let key = Rng::system().generate(|rng| ApiKey::generate(rng, CellLabel::default()));
    let row = Rng::system().generate(|rng| derived.seal(&key, rng));
    let written = sqlx::query("update tokens set key_sealed = $1").bind(row.sealed).execute(pool).await;
    let refused = written.unwrap_err().to_string();
    assert!(refused.contains("the key is encrypted by the data key 0, and the present one is"), "{refused}");
}

/// Over a connection of its own: a transaction that is being begun when this is aborted would stay open in one of the
/// pool.
async fn hold_newest_token(connect: Arc<PgConnectOptions>) {
    let mut conn = PgConnection::connect_with(&connect).await.unwrap();
    loop {
        let mut tx = conn.begin().await.unwrap();
        sqlx::query("select from tokens order by id desc limit 1 for no key update").execute(&mut *tx).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        tx.rollback().await.unwrap();
    }
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A dump that is restored into another database opens with the new master key only.
async fn assert_dump_opens(pool: &PgPool, dir: &Path) {
    // The programs of PostgreSQL know no parameters of sqlx.
    let (database, dump) = (url(pool), dir.join("keymeter.dump"));
    let database = database.split('?').next().unwrap();
    let name = format!("keymeter_copy_{}", std::process::id());
    let copy = format!("{}/{name}", database.rsplit_once('/').unwrap().0);
    let program = |name: &str| Command::new(cluster::programs().join(name));
    let made = program("pg_dump").args(["--format=custom", "--file"]).arg(&dump).arg(database).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let create = format!("create database {name} template template0");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(pool).await.unwrap();
    let restored = program("pg_restore").args(["--no-owner", "--dbname", &copy]).arg(&dump).output().unwrap();
    assert!(restored.status.success(), "{restored:?}");
    let doctor = |key| run(dir, &[("DATABASE_URL", copy.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", key)], &["doctor"]);
    assert!(said(&doctor(NEW_KEY)).ends_with("no errors found\n"));
    let wrong = String::from_utf8(doctor(MASTER_KEY).stdout).unwrap();
    assert!(wrong.contains("WRONG  master key: it does not match this database"), "{wrong}");
    let drop = format!("drop database {name}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(pool).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_change_of_the_master_key_that_cannot_be_done_is_refused(pool: PgPool) {
    empty(&pool).await;
    let (dir, database) = (tempfile::tempdir().unwrap(), url(&pool));
    let at = |key| [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", key)];
    let mut server = Server::start(dir.path(), &at(MASTER_KEY)).await;
    let (token, _) = Client::root(&server).await.creates(json!({ "name": "one" })).await.unwrap();
    server.terminate();
    let run = |key, arguments: &[&str]| run(dir.path(), &at(key), arguments);
    let rotate = |key, name: &str, text: &str| {
        let file = key_file(dir.path(), name, text);
        run(key, &["master-key", "rotate", "--new-key-file", file.to_str().unwrap()])
    };
    let (finish, cancel) = (["master-key", "finish"], ["master-key", "cancel"]);
    let none = "keymeter: the master key is not being changed; begin with `keymeter master-key rotate`";
    assert_eq!(refused(&run(MASTER_KEY, &finish)), none);
    assert_eq!(run(MASTER_KEY, &finish).status.code(), Some(5));
    assert_eq!(refused(&run(MASTER_KEY, &cancel)), none);
    assert_eq!(
        refused(&rotate(MASTER_KEY, "same.key", MASTER_KEY)),
        "keymeter: this is the present master key; make another one with: openssl rand -hex 32"
    );
    let bad = refused(&rotate(MASTER_KEY, "bad.key", "abc"));
    assert!(bad.contains("bad.key: the master key must be 64 hexadecimal digits"), "{bad}");
    let absent = refused(&run(MASTER_KEY, &["master-key", "rotate", "--new-key-file", "/nowhere"]));
    assert_eq!(
        absent,
        "keymeter: cannot read the new master key /nowhere: entity not found; make one with: openssl rand -hex 32 > new.key"
    );

    said(&rotate(MASTER_KEY, "new.key", NEW_KEY));
    said(&rotate(MASTER_KEY, "new.key", NEW_KEY));
    let other = "keymeter: the master key is being changed to another one; continue with that one, or end that change with \
                 `keymeter master-key finish` or `keymeter master-key cancel`";
    assert_eq!(refused(&rotate(MASTER_KEY, "third.key", THIRD_KEY)), other);
    assert_eq!(refused(&rotate(NEW_KEY, "old.key", MASTER_KEY)), other);
    assert_eq!(
        refused(&run(NEW_KEY, &cancel)),
        "keymeter: the settings have the new master key; to keep the old one, give it to all servers, restart them, and run \
         this again"
    );
    assert_eq!(said(&run(MASTER_KEY, &cancel)), "the master key stays as it was\n");
    let wrong = "the master key does not match this database";
    assert!(refused(&run(NEW_KEY, &["serve"])).contains(wrong));

    // Another data key encrypts with each change, and a damaged key keeps the old one.
    let sealed: Vec<u8> = sqlx::query_scalar("select key_sealed from tokens").fetch_one(&pool).await.unwrap();
    sqlx::query("update tokens set key_sealed = set_byte(key_sealed, 40, 255 - get_byte(key_sealed, 40))")
        .execute(&pool)
        .await
        .unwrap();
    let damaged = format!(
        "keymeter: the keys of these tokens cannot be decrypted, and the old master key may be needed to restore them: \
         {token}; restore these rows from a backup and run this again"
    );
    assert_eq!(refused(&rotate(MASTER_KEY, "third.key", THIRD_KEY)), damaged);
    assert_eq!(refused(&run(THIRD_KEY, &finish)), damaged);
    // Also that of a deleted token, which can be restored.
    sqlx::query("update tokens set deleted_time = extract(epoch from now())").execute(&pool).await.unwrap();
    assert_eq!(refused(&run(THIRD_KEY, &finish)), damaged);
    let doctor = run(MASTER_KEY, &["doctor"]);
    let wrong = format!(
        "WRONG  keys: those of the tokens {token} cannot be decrypted; restore these rows from a backup, or delete the tokens: \
         keys of deleted tokens are erased after `tokens.restore_days`\n"
    );
    let report = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.status.code() == Some(1) && report.contains(&wrong), "{report}");
    // The row is restored as it was, though another data key encrypts now.
    sqlx::query("update tokens set key_sealed = $1").bind(sealed).execute(&pool).await.unwrap();
    said(&rotate(MASTER_KEY, "third.key", THIRD_KEY));
    said(&run(THIRD_KEY, &finish));
    said(&run(THIRD_KEY, &["doctor"]));
}

#[tokio::test]
async fn the_file_in_the_data_directory_gets_the_new_master_key() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let before = Before::make(&server).await;
    let new_key_file = key_file(dir.path(), "new.key", NEW_KEY);
    let output =
        said(&run(dir.path(), &[], &["master-key", "rotate", "--new-key-file", new_key_file.to_str().unwrap()]));
    assert!(output.contains("the new master key is in the data directory; the old one is kept in "), "{output}");
    assert_eq!(std::fs::read_to_string(dir.path().join("data/master.key")).unwrap(), format!("{NEW_KEY}\n"));
    before.assert_works().await;
    server.terminate();
    let server = Server::start(dir.path(), &[]).await;
    before.at(&server).assert_works().await;
    assert_eq!(said(&run(dir.path(), &[], &["master-key", "finish"])), FINISHED);
    before.at(&server).assert_works().await;
    assert!(said(&run(dir.path(), &[], &["doctor"])).ends_with("no errors found\n"));
}
