//! The write-ahead log of a copy of the private PostgreSQL's files. `private_postgres.rs` makes and restores whole
//! copies.

use keymeter_postgres::base_backup::BaseBackup;
use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;

use crate::harness::wait::eventually;

/// A copy of the files took so long that the server has ended several files of the log.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_log_of_a_backup_is_kept_until_it_was_copied(pool: PgPool) {
    let options = PgConnectOptions::clone(&pool.connect_options());
    let mut backup = BaseBackup::begin(&options).await.unwrap();
    for _ in 0..3 {
        sqlx::query("create table written as select generate_series(1, 1000)").execute(&pool).await.unwrap();
        sqlx::query("drop table written").execute(&pool).await.unwrap();
        sqlx::query("select pg_switch_wal()").execute(&pool).await.unwrap();
    }
    let end = backup.end().await.unwrap();
    // What no slot keeps goes at the second checkpoint.
    for _ in 0..2 {
        sqlx::query("checkpoint").execute(&pool).await.unwrap();
    }

    assert!(end.label.contains("LABEL: keymeter\n"), "{}", end.label);
    let (first, last) = (end.wal.first().unwrap(), end.wal.last().unwrap());
    assert!(end.label.contains(&format!("(file {first})")), "{first} {}", end.label);
    let there: Vec<String> = sqlx::query_scalar(
        "select name from pg_ls_waldir() where length(name) = 24 and name between $1 and $2 order by name",
    )
    .bind(first)
    .bind(last)
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(there, end.wal);
    assert!(end.wal.len() > 3, "{:?}", end.wal);

    let slots = "select count(*) from pg_replication_slots where slot_name like 'keymeter_backup_%'";
    drop(backup);
    eventually("the slot goes with its connection", async || {
        sqlx::query_scalar::<_, i64>(slots).fetch_one(&pool).await.unwrap() == 0
    })
    .await;
}
