//! The process of the private PostgreSQL: start, supervision, stop, and what an earlier process left behind.

use std::fs;
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
use super::cluster::Cluster;

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
        let child = launch(&cluster).await?;
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
    let mut housekeeping = interval(HOUSEKEEPING);
    housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // Also when the sender is dropped.
            _ = &mut stop => return stop_child(&cluster, &mut child).await,
            _ = housekeeping.tick() => {
                cluster.trim_log();
                reap_orphans(child.id());
            }
            ended = child.wait() => {
                let said = cluster.last_words(0);
                tracing::error!(status = %describe(ended), said, "PostgreSQL ended; it is started again");
                match launch_again(&cluster, &mut stop).await {
                    Some(again) => child = again,
                    None => return,
                }
            }
        }
    }
}

/// Starts the server again, as often as it takes. `None` if it is to stop.
async fn launch_again(cluster: &Cluster, stop: &mut oneshot::Receiver<()>) -> Option<Child> {
    let mut wait = Duration::from_secs(1);
    loop {
        let launched = tokio::select! {
            _ = &mut *stop => None,
            launched = launch(cluster) => Some(launched),
        }?;
        match launched {
            Ok(child) => return Some(child),
            Err(error) => tracing::error!(%error, seconds = wait.as_secs(), "PostgreSQL does not start; trying again"),
        }
        tokio::select! {
            _ = &mut *stop => return None,
            () = sleep(wait) => wait = (wait * 2).min(MAX_BACKOFF),
        }
    }
}

async fn launch(cluster: &Cluster) -> Result<Child, PrivateError> {
    end_leftovers(&cluster.directory).await?;
    remove_leftovers(cluster)?;
    let start_of_log = fs::metadata(cluster.log()).map_or(0, |found| found.len());
    let failed = |cause: &str| PrivateError::start(&cluster.directory, cause);
    let mut command = Command::from(cluster.postgres()?);
    // A command that fails must not leave a server. A killed one loses nothing.
    let mut child = command.kill_on_drop(true).spawn().map_err(|error| failed(&error.to_string()))?;
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
                let said = cluster.last_words(0);
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
    #[must_use]
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
async fn end_leftovers(directory: &Path) -> Result<(), PrivateError> {
    let of_file = PidFile::read(directory).map(|file| file.pid);
    let mut left = processes_in(directory, of_file);
    if !left.is_empty() {
        tracing::warn!(processes = ?left, "an earlier PostgreSQL still runs on these data; ending it");
    }
    if !left.is_empty() && !of_file.is_some_and(|pid| left.contains(&pid)) {
        left = wait_for_end(directory, of_file, ORPHANS_NOTICE).await;
    }
    for (signal, patience) in PATIENCE {
        if left.is_empty() {
            break;
        }
        // The server ends its sessions itself.
        let server = of_file.filter(|pid| left.contains(pid) && signal != Signal::SIGKILL);
        for pid in server.map_or_else(|| left.clone(), |pid| vec![pid]) {
            match kill(Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX)), signal) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(PrivateError::Leftover(pid, error.into())),
            }
        }
        left = wait_for_end(directory, of_file, patience).await;
    }
    if let Some(pid) = left.first() {
        return Err(PrivateError::Leftover(*pid, std::io::Error::other("it does not end")));
    }
    Ok(())
}

/// Removes the files by which PostgreSQL would think that it runs already. Only when no process uses the directory: their
/// numbers may belong to other programs by now, or to processes that ended and that nobody has waited for.
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

async fn wait_for_end(directory: &Path, of_file: Option<u32>, patience: Duration) -> Vec<u32> {
    let end = Instant::now() + patience;
    loop {
        reap_orphans(None);
        let left = processes_in(directory, of_file);
        if left.is_empty() || Instant::now() > end {
            return left;
        }
        sleep(POLL).await;
    }
}

/// The processes of PostgreSQL that work in this directory: the server and its sessions.
#[cfg(target_os = "linux")]
fn processes_in(directory: &Path, _: Option<u32>) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_ours = |process: &Path| {
        fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == directory)
            && fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim_end() == "postgres")
    };
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok().filter(|_| is_ours(&entry.path()));
    entries.filter_map(pid).collect()
}

/// Without `/proc`, a live process with the number in `postmaster.pid` is taken for the server.
#[cfg(not(target_os = "linux"))]
fn processes_in(_: &Path, of_file: Option<u32>) -> Vec<u32> {
    let lives = |pid: &u32| i32::try_from(*pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None).is_ok());
    of_file.filter(lives).into_iter().collect()
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
