//! The embedded default: PostgreSQL 17 inside this process, its files in the data directory.
//!
//! One connection at a time, no `LISTEN`, and writes are handed to the operating system without
//! waiting for the disk: a crash of the process loses nothing, a power cut can lose the last
//! moments. For production, set `DATABASE_URL`.
//!
//! It ends for good when a connection breaks off in the middle of an answer, which happens whenever a
//! request is given up. So connections come to a relay, which reads every answer to its end.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pglite_oxide::PgliteServer;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// The running database. Dropping it stops it.
#[derive(Debug)]
pub struct Embedded {
    server: PgliteServer,
    /// Where connections come to: a socket that only our user can reach.
    socket: PathBuf,
    relay: JoinHandle<()>,
    /// Held as long as it runs, so that no second one can.
    _lock: File,
}

/// Why it did not start.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// Somebody is there already.
    #[error("the data directory {0} is in use by another keymeter; stop it, or set KEYMETER_DATA_DIR")]
    InUse(PathBuf),
    /// The file system said no.
    #[error("cannot use the data directory {path}: {cause}; set KEYMETER_DATA_DIR to one that can be written")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The database itself said no.
    #[error("the embedded database in {path} does not start: {cause}; set DATABASE_URL to use PostgreSQL instead")]
    Start {
        /// Its files.
        path: PathBuf,
        /// Why.
        cause: String,
    },
}

impl Embedded {
    /// Starts the database in `data_dir`, which is made if absent. Blocks for about a third of a
    /// second, more on the first start. To be called in a runtime, where the relay runs.
    ///
    /// # Errors
    /// See [`EmbeddedError`].
    pub fn start(data_dir: &Path) -> Result<Self, EmbeddedError> {
        let at = |cause| EmbeddedError::Directory { path: data_dir.to_owned(), cause };
        fs::create_dir_all(data_dir).map_err(at)?;
        let data_dir = &data_dir.canonicalize().map_err(at)?;
        let lock = File::create(data_dir.join("keymeter.lock")).map_err(at)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(EmbeddedError::InUse(data_dir.clone())),
            Err(TryLockError::Error(cause)) => return Err(at(cause)),
        }
        let files = data_dir.join("postgres");
        // Its files are readable by everyone who reaches them, so nobody else may.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&files).map_err(at)?;
        let directory = socket_dir(data_dir).map_err(at)?;
        let (socket, inner) = (directory.join(".s.PGSQL.5432"), directory.join("inner"));
        for left_by_a_killed_process in [&socket, &inner] {
            let _ = fs::remove_file(left_by_a_killed_process);
        }
        let server = PgliteServer::builder()
            .path(&files)
            .unix(&inner)
            .start()
            .map_err(|cause| EmbeddedError::Start { path: files, cause: format!("{cause:#}") })?;
        let listener = UnixListener::bind(&socket).map_err(at)?;
        let relay = tokio::spawn(relay(listener, inner));
        Ok(Self { server, socket, relay, _lock: lock })
    }

    /// How to connect to it: one connection at a time.
    #[must_use]
    pub fn connect_options(&self) -> PgConnectOptions {
        let directory = self.socket.parent().unwrap_or(Path::new("/"));
        PgConnectOptions::new_without_pgpass()
            .socket(directory)
            .port(5432)
            .username("postgres")
            .database("postgres")
            .ssl_mode(PgSslMode::Disable)
    }

    /// Stops it, after the last connection was closed.
    ///
    /// # Errors
    /// It did not stop cleanly; what was committed is safe all the same.
    pub fn stop(self) -> Result<(), String> {
        self.relay.abort();
        let stopped = self.server.shutdown().map_err(|error| format!("{error:#}"));
        let _ = fs::remove_file(&self.socket);
        stopped
    }
}

/// Where the server that runs on the embedded database in `data_dir` answers `keymeter doctor`.
///
/// # Errors
/// The directory does not exist, or somebody else could reach it.
pub fn doctor_socket(data_dir: &Path) -> Result<PathBuf, std::io::Error> {
    Ok(socket_dir(&data_dir.canonicalize()?)?.join("doctor"))
}

/// Passes connections on, one after the other: the database serves one at a time.
async fn relay(listener: UnixListener, inner: PathBuf) {
    loop {
        let passed = match listener.accept().await {
            Ok((client, _)) => pass(client, &inner).await,
            Err(error) => Err(error),
        };
        if let Err(error) = passed {
            tracing::error!(%error, "the embedded database does not take a connection; if this goes on, restart");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Passes one connection on, to its end on both sides.
async fn pass(client: UnixStream, inner: &Path) -> std::io::Result<()> {
    let (mut asks, mut is_told) = client.into_split();
    let (mut tells, mut is_asked) = UnixStream::connect(inner).await?.into_split();
    // How a side breaks off does not matter: the other one sees a connection that ends well.
    let questions = async {
        let _ = copy(&mut asks, &mut is_asked).await;
        let _ = is_asked.shutdown().await;
    };
    let answers = async {
        let _ = copy(&mut tells, &mut is_told).await;
        let _ = is_told.shutdown().await;
        let _ = copy(&mut tells, &mut sink()).await;
    };
    tokio::join!(questions, answers);
    Ok(())
}

/// The data directory itself where its path is short enough for a socket (108 bytes), else a
/// private directory among the temporary files. Either is closed to other users.
fn socket_dir(data_dir: &Path) -> Result<PathBuf, std::io::Error> {
    use std::os::unix::fs::MetadataExt;
    let private = data_dir.join("run");
    let directory = if private.as_os_str().len() < 80 {
        private
    } else {
        let inode = fs::metadata(data_dir)?.ino();
        std::env::temp_dir().join(format!("keymeter-{inode}"))
    };
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let owner = fs::metadata(&directory)?;
            if owner.uid() != fs::metadata(data_dir)?.uid() || owner.mode() & 0o077 != 0 {
                return Err(std::io::Error::other(format!("{} is not private", directory.display())));
            }
        }
        Err(error) => return Err(error),
    }
    Ok(directory)
}
