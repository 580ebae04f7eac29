//! Who manages others after an import, and with which password (docs/moving-in.md).

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::other_service::{Here, fixture, sqlite};
use crate::harness::{Client, MASTER_KEY, Server};

/// Two administrators and a user. The passwords of `root` and `ann` are `123456`, that of `bob` is `correct horse`.
const PEOPLE: &str = "
    INSERT INTO users (id, username, password, role, status) VALUES
      (1, 'root', '$2a$04$abcdefghijklmnopqrstuuFwMibPVIyV1/Vdxb3PVZCmM4bYxIada', 100, 1),
      (2, 'bob', '$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e', 10, 1),
      (3, 'ann', '$2a$04$abcdefghijklmnopqrstuuFwMibPVIyV1/Vdxb3PVZCmM4bYxIada', 1, 1);";

/// Username, role and the start of the password hash of the imported accounts.
async fn imported(pool: &PgPool) -> Vec<(String, i16, String)> {
    sqlx::query_as(
        "select username, role, left(password_hash, 4) from users u \
         join imports i on i.local_id = u.id and i.kind = 'user' order by foreign_id",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

fn people(root: &str, roles: [i16; 3], hash_of_root: &str) -> Vec<(String, i16, String)> {
    let hashes = [hash_of_root, "$2a$", "$2a$"];
    [root, "bob", "ann"]
        .into_iter()
        .zip(roles)
        .zip(hashes)
        .map(|((name, role), hash)| (name.into(), role, hash.into()))
        .collect()
}

#[sqlx::test(migrations = false)]
async fn with_new_ids_administrators_become_users_and_known_passwords_are_replaced(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = sqlite(dir.path(), fixture("new_api.sqlite.sql") + PEOPLE).await;
    for name in ["root", "other"] {
        assert!(here.run(&["user", "create", name, "--role", "root"]).status.success());
    }
    let lowered = json!([
        { "user_id": 1, "detail": { "username": "root-1", "role": 100 } },
        { "user_id": 2, "detail": { "username": "bob", "role": 10 } },
    ]);
    let replaced = json!([{ "user_id": 1, "detail": { "text": "root-1" } }]);
    let dry = here.import(&source, &["--new-ids", "--dry-run"]);
    assert_eq!(dry.report["findings"]["administrator_lowered"]["rows"], lowered);
    assert_eq!(
        (&dry.report["findings"]["known_password"]["rows"], &dry.report["passwords"]),
        (&replaced, &Value::Null)
    );

    let real = here.import(&source, &["--new-ids"]);
    assert_eq!(real.code, Some(0), "{}", real.stderr);
    assert_eq!(real.report["findings"]["administrator_lowered"]["rows"], lowered);
    assert_eq!(real.report["findings"]["known_password"]["rows"], replaced);
    assert_eq!(real.report["findings"]["administrator_imported"], Value::Null);
    assert_eq!(imported(&pool).await, people("root-1", [1, 1, 1], "$arg"));

    // The report has the new password; what administrators see has not.
    let issued = &real.report["passwords"][0];
    let password = issued["password"].as_str().unwrap();
    assert_eq!((&issued["user_id"], &issued["username"]), (&json!(1), &json!("root-1")));
    assert!(real.stdout.contains(&format!("\n  root-1 (account 1): {password}\n")), "{}", real.stdout);
    let stored: String = sqlx::query_scalar("select report::text from import_runs").fetch_one(&pool).await.unwrap();
    assert!(!stored.contains("\"passwords\"") && !stored.contains(password), "{stored}");
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let server = Server::start(dir.path(), &settings).await;
    Client::signed_in(&server, "root-1", password).await.get("/api/user/self").await.ok();
    let known = json!({ "username": "root-1", "password": "123456" });
    Client::stranger(&server).post("/api/user/login", known).await.refuses(401, "wrong_credentials");
}

#[sqlx::test(migrations = false)]
async fn with_keep_roles_administrators_stay_what_they_are(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = sqlite(dir.path(), fixture("new_api.sqlite.sql") + PEOPLE).await;
    assert!(here.run(&["user", "create", "root", "--role", "root"]).status.success());
    let imports = here.import(&source, &["--new-ids", "--keep-roles"]);
    assert_eq!(imports.code, Some(0), "{}", imports.stderr);
    assert_eq!(imported(&pool).await, people("root-1", [100, 10, 1], "$arg"));
    let expected = json!([
        { "user_id": 1, "detail": { "username": "root-1", "role": 100 } },
        { "user_id": 2, "detail": { "username": "bob", "role": 10 } },
    ]);
    assert_eq!(imports.report["findings"]["administrator_imported"]["rows"], expected);
    assert!(imports.stdout.contains("account 1: root-1, role 100\n"), "{}", imports.stdout);
}

#[sqlx::test(migrations = false)]
async fn the_root_account_of_here_keeps_its_password_if_everyone_knows_the_other_one(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = sqlite(dir.path(), fixture("new_api.sqlite.sql") + PEOPLE).await;
    assert!(here.run(&["user", "create", "root", "--role", "root"]).status.success());
    let hash = async || -> String {
        sqlx::query_scalar("select password_hash from users where id = 1").fetch_one(&pool).await.unwrap()
    };
    let before = hash().await;
    let import = here.import(&source, &[]);
    assert_eq!((import.code, &import.report["passwords"]), (Some(0), &Value::Null), "{}", import.stderr);
    assert_eq!(imported(&pool).await, people("root", [100, 10, 1], "$arg"));
    assert_eq!(hash().await, before);
    assert_eq!(import.report["findings"]["administrator_imported"]["count"], json!(2));
    assert_eq!(import.report["findings"]["known_password"]["count"], json!(1));
}
