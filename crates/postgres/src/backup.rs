//! `keymeter backup` and `keymeter restore`: a copy of the private PostgreSQL and of the master key, made while a
//! server runs, without programs of PostgreSQL that packages of the server do not have.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sqlx::postgres::PgConnectOptions;

use super::account::OsUser;
use super::base_backup::BaseBackup;
use super::data_dir::MASTER_KEY_FILE;
use super::{CLUSTER, PrivateError, cluster, lock, prepare};

/// Files and contents of directories that a backup of PostgreSQL leaves out: they belong to the running server. The
/// write-ahead log is copied at the end.
const LEFT_OUT_FILES: [&str; 3] = ["postmaster.pid", "postmaster.opts", "pg_internal.init"];
const WAL: &str = "pg_wal";
const LEFT_OUT_CONTENTS: [&str; 8] =
    [WAL, "pg_replslot", "pg_dynshmem", "pg_notify", "pg_serial", "pg_snapshots", "pg_stat_tmp", "pg_subtrans"];

/// Where files are copied from.
#[derive(Clone, Copy)]
enum Source {
    /// The directory of a running server.
    Running,
    /// A backup.
    AtRest,
}

impl Source {
    fn has_file(self, name: &str) -> bool {
        match self {
            Self::Running => !LEFT_OUT_FILES.contains(&name) && !name.starts_with("pgsql_tmp"),
            Self::AtRest => true,
        }
    }

    fn has_contents_of(self, directory: &str) -> bool {
        match self {
            Self::Running => !LEFT_OUT_CONTENTS.contains(&directory),
            Self::AtRest => true,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{0} exists; name a directory that does not")]
    Exists(PathBuf),
    #[error("{0} exists: a backup that was ended leaves it. Remove it, or name another directory")]
    PartExists(PathBuf),
    #[error("{0} is no complete backup")]
    Incomplete(PathBuf),
    #[error("there are data in {0}; a restore needs an empty data directory: move them away, or set KEYMETER_DATA_DIR")]
    DataExist(PathBuf),
    #[error("{0} is another master key than that of the backup; move it away")]
    OtherMasterKey(PathBuf),
    #[error("the master key was changed during the backup; make another one")]
    MasterKeyChanged,
    #[error("cannot copy {0}: {1}")]
    Files(PathBuf, io::Error),
    #[error("the database cannot be copied: {0}")]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Private(#[from] PrivateError),
}

/// What is copied.
#[derive(Debug, Clone, Copy)]
pub struct BackedUp<'a> {
    pub data_dir: &'a Path,
    /// How to connect to the PostgreSQL that runs there.
    pub connect: &'a PgConnectOptions,
    /// The settings have the master key, so it is not copied.
    pub master_key_is_set: bool,
}

/// Copies the database and the master key to `to`, a new directory. Returns false if the master key was not copied.
///
/// # Errors
/// See [`BackupError`].
pub async fn back_up(from: BackedUp<'_>, to: &Path) -> Result<bool, BackupError> {
    if to.exists() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    // Complete under its name only.
    let draft = with_suffix(to, ".part");
    if draft.symlink_metadata().is_ok() {
        return Err(BackupError::PartExists(draft));
    }
    make_dir(&draft)?;
    let has_key = match copy_to(from, &draft).await {
        Ok(has_key) => has_key,
        Err(error) => {
            // It holds secrets, and is of no use.
            remove_tree(&draft)?;
            return Err(error);
        }
    };
    fs::rename(&draft, to).map_err(|error| BackupError::Files(to.to_owned(), error))?;
    sync(to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    Ok(has_key)
}

async fn copy_to(what: BackedUp<'_>, to: &Path) -> Result<bool, BackupError> {
    let key = what.data_dir.join(MASTER_KEY_FILE);
    let has_key = !what.master_key_is_set && key.exists();
    if has_key {
        copy_file(&key, &to.join(MASTER_KEY_FILE))?;
    }
    let (from, files) = (what.data_dir.join(CLUSTER), to.join(CLUSTER));
    let mut backup = BaseBackup::begin(what.connect).await?;
    copy_tree(&from, &files, Source::Running)?;
    let end = backup.end().await?;
    for name in &end.wal {
        // Unlike other files, each is needed.
        copy_file(&from.join(WAL).join(name), &files.join(WAL).join(name))?;
    }
    drop(backup);
    write(&files.join("backup_label"), end.label.as_bytes())?;
    // While it is changed, the old one and the new one open the copy; after the change, the old one does not.
    if has_key && !is_same_key(&key, &to.join(MASTER_KEY_FILE))? {
        return Err(BackupError::MasterKeyChanged);
    }
    sync(to)?;
    Ok(has_key)
}

/// Copies a backup into an empty data directory.
///
/// # Errors
/// See [`BackupError`].
pub fn restore(data_dir: &Path, from: &Path) -> Result<(), BackupError> {
    let files = from.join(CLUSTER);
    if !files.join("backup_label").exists() || cluster::version(&files)?.is_none() {
        return Err(BackupError::Incomplete(from.to_owned()));
    }
    let (data_dir, account) = prepare(data_dir)?;
    let _lock = lock(&data_dir)?.ok_or_else(|| PrivateError::InUse(data_dir.clone()))?;
    let target = data_dir.join(CLUSTER);
    if target.exists() {
        return Err(BackupError::DataExist(data_dir));
    }
    restore_key(&from.join(MASTER_KEY_FILE), &data_dir.join(MASTER_KEY_FILE))?;
    let draft = cluster::new_draft(&target).map_err(|error| BackupError::Files(data_dir.clone(), error))?;
    copy_tree(&files, &draft, Source::AtRest)?;
    own_tree(&draft, &account)?;
    fs::rename(&draft, &target).map_err(|error| BackupError::Files(target.clone(), error))?;
    sync(&data_dir)?;
    Ok(())
}

fn restore_key(from: &Path, to: &Path) -> Result<(), BackupError> {
    if !from.exists() {
        return Ok(());
    }
    if !to.exists() {
        return copy_file(from, to);
    }
    if is_same_key(from, to)? { Ok(()) } else { Err(BackupError::OtherMasterKey(to.to_owned())) }
}

fn is_same_key(one: &Path, other: &Path) -> Result<bool, BackupError> {
    let read = |path: &Path| fs::read(path).map_err(|error| BackupError::Files(path.to_owned(), error));
    Ok(read(one)?.trim_ascii() == read(other)?.trim_ascii())
}

/// Copies a directory with what it contains.
fn copy_tree(from: &Path, to: &Path, source: Source) -> Result<(), BackupError> {
    make_dir(to)?;
    copy_files(from, to, source)?;
    for (name, _) in entries(from)?.into_iter().filter(|(_, kind)| kind.is_dir()) {
        let (from, to) = (from.join(&name), to.join(&name));
        if source.has_contents_of(&name) {
            copy_tree(&from, &to, source)?;
        } else {
            make_dir(&to)?;
            // Those of the log are needed; those of replication slots must not be there without what was in them.
            if name == WAL {
                for (below, _) in entries(&from)?.into_iter().filter(|(_, kind)| kind.is_dir()) {
                    make_dir(&to.join(below))?;
                }
            }
        }
    }
    sync(to)
}

fn copy_files(from: &Path, to: &Path, source: Source) -> Result<(), BackupError> {
    for (name, kind) in entries(from)? {
        if kind.is_file() && source.has_file(&name) {
            match copy_file(&from.join(&name), &to.join(&name)) {
                // The running server removes tables and temporary files.
                Err(BackupError::Files(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
                copied => copied?,
            }
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> Result<Vec<(String, fs::FileType)>, BackupError> {
    let read = || -> io::Result<_> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.file_type()?));
        }
        Ok(found)
    };
    read().map_err(|error| BackupError::Files(directory.to_owned(), error))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), BackupError> {
    let copy = || -> io::Result<()> {
        let mut input = fs::File::open(from)?;
        let mut output = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        io::copy(&mut input, &mut output)?;
        output.sync_all()
    };
    copy().map_err(|error| BackupError::Files(from.to_owned(), error))
}

fn write(path: &Path, content: &[u8]) -> Result<(), BackupError> {
    let write = || -> io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        io::Write::write_all(&mut file, content)?;
        file.sync_all()
    };
    write().map_err(|error| BackupError::Files(path.to_owned(), error))
}

fn make_dir(path: &Path) -> Result<(), BackupError> {
    let made = fs::DirBuilder::new().mode(0o700).create(path);
    made.map_err(|error| BackupError::Files(path.to_owned(), error))
}

fn own_tree(path: &Path, account: &OsUser) -> Result<(), BackupError> {
    account.own(path).map_err(|error| BackupError::Files(path.to_owned(), error))?;
    for (name, kind) in entries(path)? {
        let below = path.join(name);
        if kind.is_dir() {
            own_tree(&below, account)?;
        } else {
            account.own(&below).map_err(|error| BackupError::Files(below.clone(), error))?;
        }
    }
    Ok(())
}

fn sync(directory: &Path) -> Result<(), BackupError> {
    let synced = fs::File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| BackupError::Files(directory.to_owned(), error))
}

fn remove_tree(directory: &Path) -> Result<(), BackupError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BackupError::Files(directory.to_owned(), error)),
        _ => Ok(()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
