//! Cells: independent installations whose keys and ids differ, so that a router in front of them can find the cell of a
//! key (docs/operations.md).

use serde_json::json;
use sqlx::PgPool;

use crate::harness::database::{empty, url};
use crate::harness::process::run;
use crate::harness::{Client, MASTER_KEY, Server};

#[sqlx::test(migrations = false)]
async fn a_cell_labels_its_keys_and_has_its_own_range_of_ids(pool: PgPool) {
    empty(&pool).await;
    let (dir, database) = (tempfile::tempdir().unwrap(), url(&pool));
    let in_cell = |label| {
        [
            ("DATABASE_URL", database.as_str()),
            ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
            ("KEYMETER_CELL__LABEL", label),
        ]
    };
    let first_id = 11 << 40; // B is the digit 11 of base 62
    let mut server = Server::start(dir.path(), &in_cell("0B")).await;
    let root = Client::root(&server).await;
    let (id, key) = root.creates(json!({ "name": "one", "unlimited_quota": true })).await.unwrap();
    assert_eq!(id, first_id);
    assert_eq!(&key[43..45], "0B", "sk-, 40 random characters, then the label");
    let own = root.get("/api/user/self").await.ok();
    assert_eq!(own["id"], json!(first_id));
    let ids: Vec<i64> = sqlx::query_scalar("select id from access_tokens union all select id from audit_log")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert!(!ids.is_empty() && ids.iter().all(|id| *id >= first_id), "{ids:?}");
    server.terminate();

    let report = String::from_utf8(run(dir.path(), &in_cell("0B"), &["doctor"]).stdout).unwrap();
    assert!(report.contains("ok     ledger: ") && report.ends_with("no errors found\n"), "{report}");
}

#[sqlx::test(migrations = false)]
async fn a_database_of_another_cell_is_refused(pool: PgPool) {
    let (dir, database) = (tempfile::tempdir().unwrap(), url(&pool));
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    Server::start(dir.path(), &settings).await.terminate();
    let other: Vec<_> = settings.into_iter().chain([("KEYMETER_CELL__LABEL", "0B")]).collect();
    let refused = run(dir.path(), &other, &["serve"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        "keymeter: this database belongs to the cell `00`, and `cell.label` is `0B`; set KEYMETER_CELL__LABEL=00 or use \
         another database\n"
    );
}

#[test]
fn a_label_that_is_not_two_letters_or_digits_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &[("KEYMETER_CELL__LABEL", "long")], &["serve"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(
        message,
        "keymeter: the setting cell.label cannot be used: a cell label is two letters or digits, such as `00` or `A7`\n"
    );
}
