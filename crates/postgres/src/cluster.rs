//! The files of the private PostgreSQL: the cluster, the directory of its socket, its log.

use std::fs::{self, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::PrivateError;
use super::account::OsUser;
use super::programs::Programs;
use crate::data_dir::LOG_FILE;

/// PostgreSQL's rules of who may connect.
const HBA: &str = "pg_hba.conf";

/// Given by PostgreSQL to the socket in its directory.
const SOCKET: &str = ".s.PGSQL.5432";

/// The longest path of a socket that every system admits.
const LONGEST_SOCKET: usize = 103;

/// Above this size, the log is moved to `postgres.log.1`.
const MAX_LOG: u64 = 8 << 20;

/// Lines of the log that an error shows.
const SHOWN_LINES: usize = 6;

/// The setting by which PostgreSQL does without /dev/shm, of which containers often have one megabyte.
const WITHOUT_SHM: &str = "dynamic_shared_memory_type";

/// Everything that is fixed about the private PostgreSQL while it runs.
#[derive(Debug)]
pub struct Cluster {
    pub directory: PathBuf,
    pub sockets: PathBuf,
    pub programs: Programs,
    pub account: OsUser,
    pub max_connections: u32,
    pub shared_buffers_mb: u32,
}

impl Cluster {
    /// Creates the cluster if there is none. That takes a second or two.
    ///
    /// # Errors
    /// `initdb` failed, or the file system cannot keep the files private.
    pub async fn create(&self) -> Result<(), PrivateError> {
        let at_hba = |cause| PrivateError::Directory(self.directory.join(HBA), cause);
        if self.directory.join("PG_VERSION").exists() {
            return self.admit_through_the_socket(&self.directory).map_err(at_hba);
        }
        let at = |cause| PrivateError::Directory(self.directory.clone(), cause);
        tracing::info!(directory = %self.directory.display(), "creating the database");
        if fs::read_dir(&self.directory).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(PrivateError::NoCluster(self.directory.clone()));
        }
        let draft = new_draft(&self.directory).map_err(at)?;
        fs::DirBuilder::new().mode(0o700).create(&draft).map_err(at)?;
        self.account.own(&draft).map_err(at)?;
        let mut command = self.account.command(&self.programs.program("initdb"));
        command.arg("-D").arg(&draft);
        let models = draft.with_extension("models");
        match self.programs.major {
            // Needs little of it.
            ..15 => {}
            // Has no option for it, and so gets another model of the settings.
            15 => {
                self.make_models(&models).map_err(at)?;
                command.arg("-L").arg(&models);
            }
            _ => {
                command.arg("-c").arg(format!("{WITHOUT_SHM}=mmap"));
            }
        }
        command.args(["-U", super::USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-k", "--no-instructions"]);
        command.stdin(Stdio::null());
        let output = tokio::process::Command::from(command).kill_on_drop(true).output().await.map_err(at)?;
        if !output.status.success() {
            let said = [output.stdout, output.stderr].concat();
            return Err(PrivateError::start(&self.directory, &String::from_utf8_lossy(&said)));
        }
        if models.exists() {
            fs::remove_dir_all(&models).map_err(at)?;
        }
        self.admit_through_the_socket(&draft).map_err(at_hba)?;
        fs::rename(&draft, &self.directory).map_err(at)?;
        let parent = self.directory.parent().unwrap_or(Path::new("/"));
        fs::File::open(parent).and_then(|parent| parent.sync_all()).map_err(at)
    }

    /// Replaces the rules of `initdb`, which admit everyone on this machine over the network as well.
    fn admit_through_the_socket(&self, directory: &Path) -> std::io::Result<()> {
        const RULES: &str = "# Written by Keymeter. The socket is in a private directory.\nlocal all all trust\n";
        let file = directory.join(HBA);
        if fs::read_to_string(&file).is_ok_and(|rules| rules == RULES) {
            return Ok(());
        }
        let draft = directory.join("pg_hba.conf.new");
        fs::write(&draft, RULES)?;
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o600))?;
        self.account.own(&draft)?;
        fs::rename(&draft, &file)
    }

    /// A directory for `initdb` with the files from which it makes a cluster: links to its own, but a `postgresql.conf`
    /// with which it does without /dev/shm.
    fn make_models(&self, directory: &Path) -> std::io::Result<()> {
        const SETTINGS: &str = "postgresql.conf.sample";
        let mut command = self.account.command(&self.programs.program("initdb"));
        let shown = command.arg("-D").arg(directory).arg("--show").output()?;
        let shown = [shown.stdout, shown.stderr].concat();
        let own = String::from_utf8_lossy(&shown)
            .lines()
            .find_map(|line| line.strip_prefix("share_path=").map(PathBuf::from));
        let own = own.ok_or_else(|| std::io::Error::other("`initdb --show` does not print its `share_path`"))?;
        fs::DirBuilder::new().mode(0o700).create(directory)?;
        for entry in fs::read_dir(&own)? {
            let name = entry?.file_name();
            if name != SETTINGS {
                std::os::unix::fs::symlink(own.join(&name), directory.join(&name))?;
            }
        }
        // In a comment, `initdb` would choose the kind itself.
        let settings = fs::read_to_string(own.join(SETTINGS))?;
        let settings = settings.replace(&format!("#{WITHOUT_SHM} = posix"), &format!("{WITHOUT_SHM} = mmap"));
        let file = directory.join(SETTINGS);
        fs::write(&file, settings)?;
        self.account.own(&file)?;
        self.account.own(directory)
    }

    /// The command that runs the server. Its messages go to the log, whose lock it and its sessions hold from then on,
    /// together with this command.
    ///
    /// # Errors
    /// Another server holds the lock.
    pub fn postgres(&self) -> Result<Command, PrivateError> {
        let log = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(self.log());
        let log = log.map_err(|cause| PrivateError::Directory(self.log(), cause))?;
        log.try_lock().map_err(|error| PrivateError::Directory(self.log(), error.into()))?;
        let errors = log.try_clone().map_err(|cause| PrivateError::Directory(self.log(), cause))?;
        let mut command = self.account.command(&self.programs.program("postgres"));
        command.arg("-D").arg(&self.directory);
        for (name, value) in self.settings() {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        Ok(command)
    }

    /// Whether a server or one of its sessions still runs on these files, no matter which process started it: they hold
    /// the lock of the log.
    ///
    /// # Errors
    /// The log cannot be opened.
    pub fn is_in_use(&self) -> Result<bool, PrivateError> {
        let at = |cause| PrivateError::Directory(self.log(), cause);
        match fs::File::open(self.log()) {
            Ok(log) => match log.try_lock() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(error)) => Err(at(error)),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(at(error)),
        }
    }

    /// PostgreSQL's settings. `data/pg/postgresql.conf` has no say in these, and in all others.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let own = |value: &str| value.to_owned();
        vec![
            // Only this machine, through a socket in a private directory.
            ("listen_addresses", String::new()),
            ("port", own("5432")),
            ("unix_socket_directories", format!("\"{}\"", self.sockets.display().to_string().replace('"', "\"\""))),
            ("unix_socket_permissions", own("0700")),
            // An answered charge survives a power failure.
            ("fsync", own("on")),
            ("synchronous_commit", own("on")),
            ("full_page_writes", own("on")),
            // Small: it shares the machine with its only client.
            ("max_connections", self.max_connections.to_string()),
            ("shared_buffers", format!("{}MB", self.shared_buffers_mb)),
            // `max_wal_size` stays at PostgreSQL's default: a smaller log makes a checkpoint every few seconds under
            // load.
            ("wal_buffers", own("1MB")),
            ("maintenance_work_mem", own("32MB")),
            ("autovacuum_max_workers", own("2")),
            ("max_parallel_workers", own("0")),
            ("max_parallel_workers_per_gather", own("0")),
            ("max_parallel_maintenance_workers", own("0")),
            ("max_logical_replication_workers", own("0")),
            ("huge_pages", own("off")),
            (WITHOUT_SHM, own("mmap")),
            ("timezone", own("UTC")),
            ("lc_messages", own("C")),
            // Statements stay out of the log.
            ("log_timezone", own("UTC")),
            ("log_statement", own("none")),
            ("log_min_error_statement", own("panic")),
            ("log_parameter_max_length_on_error", own("0")),
            ("logging_collector", own("off")),
            ("log_destination", own("stderr")),
        ]
    }

    /// The file with the number of the process that listens on the socket.
    pub fn socket_lock(&self) -> PathBuf {
        self.sockets.join(format!("{SOCKET}.lock"))
    }

    pub fn log(&self) -> PathBuf {
        self.directory.with_file_name(LOG_FILE)
    }

    /// Keeps the log small. PostgreSQL appends to the file it was given, so the file is copied and then emptied.
    pub fn trim_log(&self) {
        let log = self.log();
        let is_large = fs::metadata(&log).is_ok_and(|found| found.len() > MAX_LOG);
        if !is_large {
            return;
        }
        // On a full disk the copy fails, and the space is needed all the more.
        let copied = fs::copy(&log, log.with_extension("log.1")).map(drop);
        let emptied = fs::OpenOptions::new().write(true).open(&log).and_then(|log| log.set_len(0));
        if let Err(error) = copied.and(emptied) {
            tracing::warn!(%error, "PostgreSQL's log could not be kept while it was shortened");
        }
    }

    /// Says what to do about a full disk, on which PostgreSQL refuses writes or ends.
    pub fn warn_of_full_disk(&self) {
        /// Two files of the write-ahead log: with less, PostgreSQL is about to refuse writes.
        const LEAST_FREE: u64 = 32 << 20;
        let Ok(found) = nix::sys::statvfs::statvfs(&self.directory) else { return };
        let free = found.fragment_size().saturating_mul(found.blocks_available());
        if free < LEAST_FREE {
            tracing::error!(
                directory = %self.directory.display(),
                free_mb = free >> 20,
                "the disk is full, or nearly: free some space. While it is full, requests that write get 503; nothing is lost, and \
                 Keymeter goes on by itself"
            );
        }
    }

    /// What PostgreSQL said last in its log, from the byte `start` on.
    pub fn last_words(&self, start: u64) -> String {
        let read = || -> std::io::Result<String> {
            let mut log = fs::File::open(self.log())?;
            let end = log.seek(SeekFrom::End(0))?;
            log.seek(SeekFrom::Start(start.min(end).max(end.saturating_sub(4096))))?;
            let mut said = Vec::new();
            log.read_to_end(&mut said)?;
            Ok(String::from_utf8_lossy(&said).into_owned())
        };
        read().unwrap_or_default()
    }
}

/// The end of a log in one line, without what it says to those who try to connect meanwhile.
pub fn last_lines(text: &str) -> String {
    let is_of_others = |line: &str| line.contains("FATAL:  the database system is ");
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty() && !is_of_others(line)).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("; ")
}

/// The major version of an existing cluster.
///
/// # Errors
/// Its file cannot be read.
pub fn version(directory: &Path) -> Result<Option<u32>, PrivateError> {
    match fs::read_to_string(directory.join("PG_VERSION")) {
        Ok(text) => Ok(text.trim().parse().ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(PrivateError::Directory(directory.to_owned(), error)),
    }
}

/// A name beside a cluster for one that is not complete yet, and of which a killed process leaves a part. Removes older
/// parts.
pub fn new_draft(directory: &Path) -> std::io::Result<PathBuf> {
    let name = format!("{}.new.", super::CLUSTER);
    for entry in fs::read_dir(directory.parent().unwrap_or(Path::new("/")))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&name) {
            // Another time, if the `initdb` of a killed process still writes there.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(directory.with_file_name(format!("{name}{}", std::process::id())))
}

/// Refuses a file system on which the files could not be kept private, before there is a cluster on it: one without
/// modes, or whose files all belong to one account.
///
/// # Errors
/// That; or the directory cannot be written.
pub fn check_file_system(data_dir: &Path, account: &OsUser) -> Result<(), PrivateError> {
    let at = |cause| PrivateError::Directory(data_dir.to_owned(), cause);
    let probe = new_draft(&data_dir.join(super::CLUSTER)).map_err(at)?;
    fs::DirBuilder::new().mode(0o700).create(&probe).map_err(at)?;
    let keeps = |mode| -> std::io::Result<bool> {
        fs::set_permissions(&probe, fs::Permissions::from_mode(mode))?;
        account.own(&probe)?;
        let found = fs::metadata(&probe)?;
        Ok(found.mode() & 0o777 == mode && account.is_owner(&found))
    };
    // All that such a file system shows may happen to be one of these.
    let is_kept = [0o600, 0o700].into_iter().all(|mode| keeps(mode).unwrap_or(false));
    fs::remove_dir(&probe).map_err(at)?;
    if is_kept { Ok(()) } else { Err(PrivateError::NoModes(data_dir.to_owned())) }
}

/// Warns of file systems that lose data.
#[cfg(target_os = "linux")]
pub fn warn_of_file_system(directory: &Path) {
    use nix::sys::statfs::{NFS_SUPER_MAGIC, TMPFS_MAGIC, statfs};
    let Ok(found) = statfs(directory) else { return };
    if found.filesystem_type() == TMPFS_MAGIC {
        tracing::warn!("the data directory is in memory (tmpfs): a restart of the machine loses all data");
    } else if found.filesystem_type() == NFS_SUPER_MAGIC {
        tracing::warn!("the data directory is on NFS: mount it with `hard`, and never start two machines on it");
    }
}

#[cfg(not(target_os = "linux"))]
pub fn warn_of_file_system(_: &Path) {}

/// The directory of the socket, private to the account: in the data directory or, if its path is too long for a socket,
/// in a directory for running programs.
///
/// # Errors
/// It cannot be created, or belongs to somebody else.
pub fn make_socket_directory(data_dir: &Path, account: &OsUser) -> Result<PathBuf, PrivateError> {
    let inside = data_dir.join("run");
    let directory = if inside.join(SOCKET).as_os_str().len() <= LONGEST_SOCKET {
        inside
    } else {
        // Device and inode tell the data directories of a machine apart.
        let found = fs::metadata(data_dir).map_err(|cause| PrivateError::Directory(inside, cause))?;
        runtime_directory(account).join(format!("keymeter-{:x}-{}", found.dev(), found.ino()))
    };
    let at = |cause| PrivateError::Directory(directory.clone(), cause);
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Ok(()) => account.own(&directory).map_err(at)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(&directory).map_err(at)?;
            if !found.is_dir() || !account.is_owner(&found) || found.mode() & 0o077 != 0 {
                return Err(PrivateError::SocketDirectory(directory));
            }
        }
        Err(error) => return Err(at(error)),
    }
    Ok(directory)
}

/// Where programs keep the sockets of this boot.
fn runtime_directory(account: &OsUser) -> PathBuf {
    let of_user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let of_user = of_user.filter(|directory| {
        !account.is_other && directory.is_absolute() && directory.is_dir() && directory.as_os_str().len() < 48
    });
    of_user
        .or_else(|| Some(PathBuf::from("/run/keymeter")).filter(|directory| directory.is_dir()))
        .unwrap_or_else(|| PathBuf::from("/tmp"))
}
