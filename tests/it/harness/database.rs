//! The database of a test.

use std::path::Path;

use keymeter::service::vault::MasterKey;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgPool};

/// The `DATABASE_URL` of this database.
pub fn url(pool: &PgPool) -> String {
    pool.connect_options().to_url_lossy().to_string()
}

/// The private PostgreSQL of the server whose data are in `dir`.
pub fn private(dir: &Path) -> PgConnectOptions {
    let sockets = dir.join("data/run").canonicalize().unwrap();
    PgConnectOptions::new_without_pgpass().socket(sockets).username("keymeter").database("postgres")
}

/// Removes all tables: databases of tests may begin with ours (`scripts/test-service.sh`).
pub async fn empty(pool: &PgPool) {
    sqlx::raw_sql("drop schema public cascade; create schema public").execute(pool).await.unwrap();
}

/// Every row of every table, as text.
pub async fn contents(pool: &PgPool) -> String {
    let tables: Vec<String> =
        sqlx::query_scalar("select tablename::text from pg_tables where schemaname = 'public' order by 1")
            .fetch_all(pool)
            .await
            .unwrap();
    let mut all = String::new();
    for table in tables {
        let rows = format!("select coalesce(string_agg(t::text, e'\\n' order by t::text), '') from \"{table}\" t");
        let rows: String = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_one(pool).await.unwrap();
        all.extend([table, rows].map(|text| text + "\n"));
    }
    all
}

/// Lets the database be one on which a service with the master key of tests was started.
pub async fn record_first_start(pool: &PgPool) {
    let check = MasterKey::from_hex(super::MASTER_KEY).unwrap().check().to_vec();
    let first_start = "insert into installation (id, key_check, cell_label, created_time) values (1, $1, '00', 1)";
    sqlx::query(first_start).bind(check).execute(pool).await.unwrap();
}
