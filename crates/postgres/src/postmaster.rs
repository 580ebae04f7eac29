//! The process of the private PostgreSQL: start, supervision, stop, and what an earlier process left behind.

use std::fs::{self, TryLockError};
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::PrivateError;
use super::cluster::{Cluster, last_lines};

const POLL: Duration = Duration::from_millis(20);

/// After this, a start that takes longer is announced, and again after each such time.
const LONG_START: Duration = Duration::from_secs(10);

/// How long each way of stopping may take.
const PATIENCE: [(Signal, Duration); 3] = [
    // Fast: ends all sessions and writes a checkpoint.
    (Signal::SIGINT, Duration::from_mins(1)),
    // Immediate: the next start recovers from the log.
    (Signal::SIGQUIT, Duration::from_secs(10)),
    (Signal::SIGKILL, Duration::from_secs(10)),
];

/// How long sessions whose server was killed may take to notice.
const ORPHANS_NOTICE: Duration = Duration::from_secs(5);

/// How long commands that use the PostgreSQL of a killed keymeter may go on.
const COMMANDS_FINISH: Duration = Duration::from_secs(5);

/// The longest wait before PostgreSQL is started again.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

const HOUSEKEEPING: Duration = Duration::from_secs(30);

/// A running server that is started again if it ends.
#[derive(Debug)]
pub struct Postmaster {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Postmaster {
    /// Starts the server and waits until it accepts connections.
    ///
    /// # Errors
    /// It does not start, or another server that uses these files does not end.
    pub async fn start(cluster: Arc<Cluster>) -> Result<Self, PrivateError> {
        let closed = close_to_commands(&cluster).await?;
        let child = launch(&cluster).await?;
        drop(closed);
        let (stop, stopped) = oneshot::channel();
        Ok(Self { stop, task: tokio::spawn(supervise(cluster, child, stopped)) })
    }

    /// Stops the server, and waits until it has ended.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "PostgreSQL was not stopped");
        }
    }
}

async fn supervise(cluster: Arc<Cluster>, mut child: Child, mut stop: oneshot::Receiver<()>) {
    let mut wait = Duration::ZERO;
    let mut started = Instant::now();
    let mut housekeeping = interval(HOUSEKEEPING);
    housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // Also when the sender is dropped.
            _ = &mut stop => return stop_child(&cluster, &mut child).await,
            _ = housekeeping.tick() => {
                cluster.trim_log();
                cluster.warn_of_full_disk();
                reap_orphans(child.id());
            }
            ended = child.wait() => {
                let said = last_lines(&cluster.last_words(0));
                tracing::error!(status = %describe(ended), said, "PostgreSQL ended; it is started again");
                // One that ends again and again is not started in a hurry.
                wait = if started.elapsed() > MAX_BACKOFF { Duration::ZERO } else { next_wait(wait) };
                match launch_again(&cluster, &mut stop, &mut wait).await {
                    Some(again) => (child, started) = (again, Instant::now()),
                    None => return,
                }
                reap_orphans(child.id());
            }
        }
    }
}

/// Starts the server again after this wait, as often as it takes. `None` if it is to stop.
async fn launch_again(cluster: &Cluster, stop: &mut oneshot::Receiver<()>, wait: &mut Duration) -> Option<Child> {
    loop {
        let launched = tokio::select! {
            _ = &mut *stop => None,
            launched = async {
                sleep(*wait).await;
                launch(cluster).await
            } => Some(launched),
        }?;
        match launched {
            Ok(child) => return Some(child),
            Err(error) => {
                *wait = next_wait(*wait);
                tracing::error!(%error, seconds = wait.as_secs(), "PostgreSQL does not start; trying again");
            }
        }
    }
}

fn next_wait(wait: Duration) -> Duration {
    (wait * 2).clamp(Duration::from_secs(1), MAX_BACKOFF)
}

/// Keeps commands away until the server runs: before, the file of a killed one may name it as ready, and it may still
/// answer, for as long as it takes to end it. The lock is that of [`super::PrivatePostgres::of_other`].
async fn close_to_commands(cluster: &Cluster) -> Result<fs::File, PrivateError> {
    let at = |cause| PrivateError::Directory(cluster.directory.clone(), cause);
    let directory = fs::File::open(&cluster.directory).map_err(at)?;
    let end = Instant::now() + COMMANDS_FINISH;
    while matches!(directory.try_lock(), Err(TryLockError::WouldBlock)) && Instant::now() < end {
        sleep(POLL).await;
    }
    Ok(directory)
}

async fn launch(cluster: &Cluster) -> Result<Child, PrivateError> {
    end_leftovers(cluster).await?;
    remove_leftovers(cluster)?;
    let start_of_log = fs::metadata(cluster.log()).map_or(0, |found| found.len());
    let failed = |cause: &str| PrivateError::start(&cluster.directory, cause);
    let mut command = Command::from(cluster.postgres()?);
    // A command that fails must not leave a server. A killed one loses nothing.
    let mut child = command.kill_on_drop(true).spawn().map_err(|error| failed(&error.to_string()))?;
    // It shares the lock of the log.
    drop(command);
    let (started, mut announced) = (Instant::now(), Duration::ZERO);
    loop {
        if let Some(status) = child.try_wait().map_err(|error| failed(&error.to_string()))? {
            let said = cluster.last_words(start_of_log);
            return Err(failed(&if said.is_empty() { describe(Ok(status)) } else { said }));
        }
        let pid_file = PidFile::read(&cluster.directory);
        if pid_file.is_some_and(|file| file.is_ready && Some(file.pid) == child.id()) {
            return Ok(child);
        }
        if started.elapsed() > announced + LONG_START {
            announced = started.elapsed();
            tracing::info!(
                seconds = announced.as_secs(),
                "PostgreSQL starts; after a crash it recovers its data first"
            );
        }
        sleep(POLL).await;
    }
}

async fn stop_child(cluster: &Cluster, child: &mut Child) {
    for (signal, patience) in PATIENCE {
        let Some(pid) = child.id().and_then(|id| i32::try_from(id).ok()) else { return };
        if let Err(error) = kill(Pid::from_raw(pid), signal) {
            tracing::warn!(%error, "PostgreSQL cannot be stopped");
        }
        if let Ok(ended) = tokio::time::timeout(patience, child.wait()).await {
            if !ended.as_ref().is_ok_and(ExitStatus::success) {
                let said = last_lines(&cluster.last_words(0));
                tracing::warn!(status = %describe(ended), said, "PostgreSQL did not stop cleanly; no charge is lost");
            }
            return;
        }
        tracing::warn!(%signal, "PostgreSQL does not stop");
    }
}

fn describe(ended: std::io::Result<ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// What PostgreSQL writes into `postmaster.pid`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PidFile {
    pub pid: u32,
    /// The directory of its socket.
    pub sockets: PathBuf,
    /// It accepts connections.
    pub is_ready: bool,
}

impl PidFile {
    /// `None` if there is none, or it is not complete yet.
    pub fn read(directory: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(path_of(directory)).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        Some(Self {
            pid: lines.first()?.parse().ok()?,
            sockets: lines.get(4).map(PathBuf::from)?,
            is_ready: lines.get(7).is_some_and(|status| *status == "ready"),
        })
    }
}

fn path_of(directory: &Path) -> PathBuf {
    directory.join("postmaster.pid")
}

/// Ends what a killed keymeter left: it is never adopted, because nobody knows its settings.
async fn end_leftovers(cluster: &Cluster) -> Result<(), PrivateError> {
    if !cluster.is_in_use()? {
        return Ok(());
    }
    let of_file = PidFile::read(&cluster.directory).map(|file| file.pid);
    let server = |found: &[u32]| of_file.filter(|pid| found.contains(pid));
    let found = processes_in(&cluster.directory, of_file);
    tracing::warn!(processes = ?found, "an earlier PostgreSQL still runs on these data; ending it");
    if server(&found).is_none() && has_ended(cluster, ORPHANS_NOTICE).await? {
        return Ok(());
    }
    for (signal, patience) in PATIENCE {
        let found = processes_in(&cluster.directory, of_file);
        let is_last = signal == Signal::SIGKILL;
        let ended = match server(&found) {
            // It ends its sessions itself.
            Some(server) if !is_last => vec![server],
            // Without it they have nothing to finish, and some take the other signals for requests.
            None if !is_last => continue,
            _ => found,
        };
        for pid in ended {
            match kill(Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX)), signal) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(PrivateError::Leftover(pid, error.into())),
            }
        }
        if has_ended(cluster, patience).await? {
            return Ok(());
        }
    }
    let cause = std::io::Error::other("it does not end, or this account cannot see it");
    Err(PrivateError::Leftover(of_file.unwrap_or_default(), cause))
}

async fn has_ended(cluster: &Cluster, patience: Duration) -> Result<bool, PrivateError> {
    let end = Instant::now() + patience;
    loop {
        reap_orphans(None);
        let is_in_use = cluster.is_in_use()?;
        if !is_in_use || Instant::now() > end {
            return Ok(!is_in_use);
        }
        sleep(POLL).await;
    }
}

/// Removes the files by which PostgreSQL would think that it runs already. Only when no process uses the directory:
/// their numbers may belong to other programs by now, or to processes that ended and that nobody has waited for.
fn remove_leftovers(cluster: &Cluster) -> Result<(), PrivateError> {
    for file in [path_of(&cluster.directory), cluster.socket_lock()] {
        match fs::remove_file(&file) {
            Ok(()) => tracing::info!(file = %file.display(), "removed what a PostgreSQL that has ended left"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(PrivateError::Directory(file, error)),
        }
    }
    Ok(())
}

/// The processes of PostgreSQL that work in this directory: the server and its sessions. Only for sending signals: this
/// account may not see them all.
#[cfg(target_os = "linux")]
fn processes_in(directory: &Path, of_file: Option<u32>) -> Vec<u32> {
    let place = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    let Ok(ours) = place(directory) else { return Vec::new() };
    let is_ours = |pid: u32, process: &Path| {
        // `412 (postgres) S …`. Z has ended, but nobody has waited for it, as in containers whose process 1 does not.
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        let is_postgres = stat.split_once(" (postgres) ").is_some_and(|(_, state)| !state.starts_with('Z'));
        // Without the right to look, the file of the server is believed.
        is_postgres && place(&process.join("cwd")).map_or(Some(pid) == of_file, |found| found == ours)
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pid = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok().filter(|pid| is_ours(*pid, &entry.path()))
    };
    entries.filter_map(pid).collect()
}

/// Without `/proc`, the file of the server is believed.
#[cfg(not(target_os = "linux"))]
fn processes_in(_: &Path, of_file: Option<u32>) -> Vec<u32> {
    of_file.into_iter().collect()
}

/// As the first process of a container, this one gets the sessions of a server that was killed, and must wait for them.
fn reap_orphans(server: Option<u32>) {
    if std::process::id() != 1 {
        return;
    }
    let children = fs::read_to_string("/proc/1/task/1/children").unwrap_or_default();
    for pid in children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()) {
        // Only sessions: nobody else waits for them.
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if Some(pid) != server && name.trim_end() == "postgres" {
            let pid = Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX));
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_server_names_its_socket_and_its_state() {
        let file = |status: &str| format!("412\n/data/pg\n1795392000\n5432\n/data/run\n\n  6291 1\n{status}");
        let found = |is_ready| Some(PidFile { pid: 412, sockets: "/data/run".into(), is_ready });
        for (text, expected) in [
            (file("ready   \n"), found(true)),
            (file("starting\n"), found(false)),
            (file("stopping\n"), found(false)),
            (file(""), found(false)),
            ("412\n/data/pg\n".into(), None),
            (String::new(), None),
            ("x\ny\nz\n1\n/run\n".into(), None),
        ] {
            assert_eq!(PidFile::parse(&text), expected, "{text:?}");
        }
    }
}
