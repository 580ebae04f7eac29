//! The beginning and the end of a copy of a running cluster's files. The functions have other names before PostgreSQL
//! 15, so these statements are not checked at compile time.
#![expect(clippy::disallowed_methods, reason = "the compiler knows the functions of one version")]

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};

/// The first version with the new names.
const RENAMED: u32 = 150_000;

/// A backup in progress. While this exists, PostgreSQL keeps the write-ahead log since its begin: the replication slot
/// lives as long as the connection.
#[derive(Debug)]
pub struct BaseBackup {
    conn: PgConnection,
    /// Where a restore begins to read the log.
    first_lsn: String,
}

/// What a copy needs in addition to the files.
#[derive(Debug)]
pub struct BackupEnd {
    /// The content of the file `backup_label`.
    pub label: String,
    /// The names of all files of the write-ahead log that a restore reads, from the first to the last.
    pub wal: Vec<String>,
}

impl BaseBackup {
    /// Begins a backup. From now on no part of the write-ahead log is removed.
    ///
    /// # Errors
    /// The database.
    pub async fn begin(options: &PgConnectOptions) -> Result<Self, sqlx::Error> {
        let mut conn = options.connect().await?;
        let keep = "select pg_create_physical_replication_slot('keymeter_backup_' || pg_backend_pid(), true, true)";
        sqlx::query(keep).execute(&mut conn).await?;
        let begin = if is_renamed(&conn) {
            "select pg_backup_start('keymeter', true)::text"
        } else {
            "select pg_start_backup('keymeter', true, false)::text"
        };
        let first_lsn = sqlx::query_scalar(begin).fetch_one(&mut conn).await?;
        Ok(Self { conn, first_lsn })
    }

    /// Ends it, after the files were copied. Copy the files of the log before you drop this.
    ///
    /// # Errors
    /// The database.
    pub async fn end(&mut self) -> Result<BackupEnd, sqlx::Error> {
        let end = if is_renamed(&self.conn) {
            "select labelfile, lsn::text from pg_backup_stop()"
        } else {
            "select labelfile, lsn::text from pg_stop_backup(false)"
        };
        let (label, last_lsn): (String, String) = sqlx::query_as(end).fetch_one(&mut self.conn).await?;
        // A position is in the file whose number is the position divided by the size of a file; at the boundary of two,
        // `pg_walfile_name` names the one before. The log ends before `last_lsn`.
        let wal = "select pg_walfile_name('0/0'::pg_lsn + (number * size + 1))
            from (select setting::numeric as size from pg_settings where name = 'wal_segment_size') as file,
                generate_series(div($1::pg_lsn - '0/0', size), div($2::pg_lsn - '0/0' - 1, size)) as number
            order by number";
        let wal = sqlx::query_scalar(wal).bind(&self.first_lsn).bind(&last_lsn).fetch_all(&mut self.conn).await?;
        Ok(BackupEnd { label, wal })
    }
}

fn is_renamed(conn: &PgConnection) -> bool {
    conn.server_version_num().is_some_and(|version| version >= RENAMED)
}
