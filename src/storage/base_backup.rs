//! The beginning and the end of a copy of a running cluster's files. The functions have other names before PostgreSQL 15, so
//! these statements are not checked at compile time.
#![expect(clippy::disallowed_methods, reason = "the compiler knows the functions of one version")]

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::StorageError;

/// The first version with the new names.
const RENAMED: u32 = 150_000;

/// A backup in progress: its connection must stay open until it ends.
#[derive(Debug)]
pub struct BaseBackup {
    conn: PgConnection,
    first_wal: String,
}

/// What a copy needs in addition to the files.
#[derive(Debug)]
pub struct BackupEnd {
    /// The content of the file `backup_label`.
    pub label: String,
    /// The names of the first and of the last file of the write-ahead log that a restore reads.
    pub wal: (String, String),
}

impl BaseBackup {
    /// Begins a backup. From now on no part of the write-ahead log is removed.
    ///
    /// # Errors
    /// The database.
    pub async fn begin(options: &PgConnectOptions) -> Result<Self, StorageError> {
        let mut conn = options.connect().await?;
        let keep = "select pg_create_physical_replication_slot('keymeter_backup_' || pg_backend_pid(), true, true)";
        sqlx::query(keep).execute(&mut conn).await?;
        let begin = if is_renamed(&conn) {
            "select pg_walfile_name(pg_backup_start('keymeter', true))"
        } else {
            "select pg_walfile_name(pg_start_backup('keymeter', true, false))"
        };
        let first_wal = sqlx::query_scalar(begin).fetch_one(&mut conn).await?;
        Ok(Self { conn, first_wal })
    }

    /// Ends it, after the files were copied.
    ///
    /// # Errors
    /// The database.
    pub async fn end(mut self) -> Result<BackupEnd, StorageError> {
        let end = if is_renamed(&self.conn) {
            "select labelfile, pg_walfile_name(lsn) from pg_backup_stop()"
        } else {
            "select labelfile, pg_walfile_name(lsn) from pg_stop_backup(false)"
        };
        let (label, last_wal) = sqlx::query_as(end).fetch_one(&mut self.conn).await?;
        Ok(BackupEnd { label, wal: (self.first_wal, last_wal) })
    }
}

fn is_renamed(conn: &PgConnection) -> bool {
    conn.server_version_num().is_some_and(|version| version >= RENAMED)
}
