//! The embedded database, which is the default: PostgreSQL 17 inside this process, with its files in the data directory.
//!
//! It accepts one connection at a time, has no `LISTEN`, and does not wait for the disk: a crash of the process loses
//! nothing, but a power failure can lose the last writes. For production, set `DATABASE_URL`.
//!
//! It stops permanently if a connection closes in the middle of an answer, which happens whenever a request is cancelled.
//! Therefore connections go through a relay, which reads every answer to its end.

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
    /// The socket of the relay, which only this user can reach.
    socket: PathBuf,
    relay: JoinHandle<()>,
    /// Locked while the database runs, so that no second process uses the same files.
    _lock: File,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("the data directory {0} is in use by another keymeter; stop it, or set KEYMETER_DATA_DIR")]
    InUse(PathBuf),
    #[error("cannot use the data directory {path}: {cause}; set KEYMETER_DATA_DIR to one that can be written")]
    Directory { path: PathBuf, cause: std::io::Error },
    #[error("the embedded database in {path} does not start: {cause}; set DATABASE_URL to use PostgreSQL instead")]
    Start { path: PathBuf, cause: String },
}

impl Embedded {
    /// Starts the database in `data_dir`, which is created if absent. Blocks for about a third of a second, longer on the
    /// first start. Must be called in a Tokio runtime, which runs the relay.
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
        // The database creates files that all users can read, so the directory is closed to other users.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&files).map_err(at)?;
        let directory = socket_dir(data_dir).map_err(at)?;
        let (socket, inner) = (directory.join(".s.PGSQL.5432"), directory.join("inner"));
        for path in [&socket, &inner] {
            // A killed process may have left it.
            let _ = fs::remove_file(path);
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

    /// Connects through the relay, one connection at a time.
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

    /// Stops the database. Close all connections first.
    ///
    /// # Errors
    /// The database did not stop cleanly. Committed transactions are safe.
    pub fn stop(self) -> Result<(), String> {
        self.relay.abort();
        let stopped = self.server.shutdown().map_err(|error| format!("{error:#}"));
        let _ = fs::remove_file(&self.socket);
        stopped
    }
}

/// The socket on which the server with the embedded database in `data_dir` answers `keymeter doctor`.
///
/// # Errors
/// The directory does not exist, or other users can reach it.
pub fn doctor_socket(data_dir: &Path) -> Result<PathBuf, std::io::Error> {
    Ok(socket_dir(&data_dir.canonicalize()?)?.join("doctor"))
}

/// Relays connections one after the other, because the database serves one at a time.
async fn relay(listener: UnixListener, inner: PathBuf) {
    loop {
        let relayed = match listener.accept().await {
            Ok((client, _)) => relay_connection(client, &inner).await,
            Err(error) => Err(error),
        };
        if let Err(error) = relayed {
            tracing::error!(%error, "the embedded database does not accept a connection; restart the service if this continues");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Relays one connection until both sides have ended.
async fn relay_connection(client: UnixStream, inner: &Path) -> std::io::Result<()> {
    let (mut client_read, mut client_write) = client.into_split();
    let (mut database_read, mut database_write) = UnixStream::connect(inner).await?.into_split();
    // Errors are ignored: if one side breaks off, the other side sees a normal end.
    let requests = async {
        let _ = copy(&mut client_read, &mut database_write).await;
        let _ = database_write.shutdown().await;
    };
    let answers = async {
        let _ = copy(&mut database_read, &mut client_write).await;
        let _ = client_write.shutdown().await;
        let _ = copy(&mut database_read, &mut sink()).await;
    };
    tokio::join!(requests, answers);
    Ok(())
}

/// The directory of sockets: inside the data directory if the path is short enough for a socket (108 bytes), else a
/// temporary directory. Both are closed to other users.
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
