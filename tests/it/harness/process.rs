//! The real program as a process.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::wait::eventually;

/// The first of the ports that tests listen on, and how many there are.
const FIRST_PORT: u16 = 15_000;
const PORTS: u32 = 16_000;

/// A running `keymeter serve`. Killed when dropped.
pub struct Server {
    pub child: Child,
    pub base: String,
    pub log: PathBuf,
}

/// The environment variables that the program inherits: none configures it; some vary the conditions of
/// `docs/testing.md`.
const INHERITED: [&str; 8] = ["PATH", "HOME", "TZ", "LANG", "LC_ALL", "LD_PRELOAD", "FAKETIME", "DONT_FAKE_MONOTONIC"];

/// A command line of `keymeter` with these settings. Its data is in `dir`, and it listens on a port that the system
/// chooses.
pub fn keymeter(dir: &Path, settings: &[(&str, &str)]) -> Command {
    if super::cluster::running_as_root() {
        // PostgreSQL runs as another account, which must reach its files.
        std::fs::set_permissions(dir, Permissions::from_mode(0o711)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_keymeter"));
    command.env_clear();
    command.env("KEYMETER_DATABASE__PROGRAMS", super::cluster::programs());
    command.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.env("KEYMETER_DATA_DIR", dir.join("data")).env("KEYMETER_SERVER__LISTEN", "127.0.0.1:0");
    command.env("KEYMETER_ROOT__PASSWORD", super::ROOT_PASSWORD);
    // There is no load balancer to wait for.
    command.env("KEYMETER_SERVER__STOP_DELAY_SECONDS", "0");
    command.envs(settings.iter().copied());
    command
}

/// Runs a command line until it ends.
pub fn run(dir: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Output {
    keymeter(dir, settings).args(arguments).output().unwrap()
}

/// Runs the doctor on the test's own database, with these options before. Returns true if it found no error, and its
/// report.
pub fn doctor(pool: &sqlx::PgPool, options: &[&str]) -> (bool, String) {
    let dir = tempfile::tempdir().unwrap();
    let settings =
        [("DATABASE_URL", &*super::database::url(pool)), ("KEYMETER_SECRETS__MASTER_KEY", super::MASTER_KEY)];
    let output = run(dir.path(), &settings, &[options, &["doctor"]].concat());
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

impl Server {
    /// Starts the service and waits until it listens. Its output goes to a file in `dir`.
    pub async fn start(dir: &Path, settings: &[(&str, &str)]) -> Self {
        Self::start_with(dir, settings, &[]).await
    }

    /// The same with arguments of `serve`.
    pub async fn start_with(dir: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut command = keymeter(dir, settings);
        command.arg("serve").args(arguments);
        Self::spawn(dir, command).await
    }

    /// Starts the service with this command line.
    pub async fn spawn(dir: &Path, mut command: Command) -> Self {
        let log = dir.join("keymeter.log");
        let out = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let before = std::fs::metadata(&log).unwrap().len();
        let child = command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
        let mut server = Self { child, base: String::new(), log };
        for _ in 0..600 {
            let text = server.log_since(before);
            if let Some(rest) = text.split("listens on ").nth(1) {
                server.base = rest.split_whitespace().next().unwrap().to_owned();
                return server;
            }
            assert!(server.child.try_wait().unwrap().is_none(), "the service exited: {text}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the service did not start: {}", server.log_since(before));
    }

    fn log_since(&self, start: u64) -> String {
        let bytes = std::fs::read(&self.log).unwrap();
        String::from_utf8_lossy(&bytes[usize::try_from(start).unwrap()..]).into_owned()
    }

    /// The address and port that it listens on.
    pub fn address(&self) -> &str {
        self.base.strip_prefix("http://").unwrap()
    }

    /// Everything that it wrote, on both outputs.
    pub fn output(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until there are such lines, which a thread of the service writes after its answers, and returns them.
    pub async fn logged(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        eventually("the log has a line", async || {
            let output = self.output();
            let complete = output.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            found = complete.map(str::trim_end).filter(|line| is_meant(line)).map(str::to_owned).collect();
            !found.is_empty()
        })
        .await;
        found
    }

    /// Sends a signal by name, such as `"TERM"`.
    pub fn signal(&self, name: &str) {
        kill(&format!("-{name}"), self.child.id());
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and returns the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A killed server leaves its private PostgreSQL to the next start, which a test that ends does not have.
        if let Some(pid) = self.log.parent().and_then(private_postgres) {
            let _ = Command::new("kill").args(["-QUIT", &pid.to_string()]).status();
        }
    }
}

/// Sends a signal, such as `"-KILL"`, to a process.
pub fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// The processes that this one started.
pub fn children(pid: u32) -> Vec<u32> {
    // Each thread has its own.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_thread = |thread: PathBuf| std::fs::read_to_string(thread.join("children")).unwrap_or_default();
    let children: String = threads.map(|thread| of_thread(thread.unwrap().path()) + " ").collect();
    children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// The process of the private PostgreSQL whose data are in `dir`.
pub fn private_postgres(dir: &Path) -> Option<u32> {
    std::fs::read_to_string(dir.join("data/pg/postmaster.pid")).ok()?.lines().next()?.parse().ok()
}

/// A free port on the loopback, another one with each call. It is below the ports that systems use for outgoing
/// connections: otherwise a client that retries could take the port of a server that is down.
pub fn free_port() -> u16 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    for _ in 0..PORTS {
        let next = std::process::id().wrapping_mul(101).wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed));
        let port = FIRST_PORT + u16::try_from(next % PORTS).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("every port from {FIRST_PORT} on is in use");
}

/// The path of libfaketime.
pub fn libfaketime() -> &'static str {
    ["/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"]
        .into_iter()
        .find(|file| Path::new(file).exists())
        .expect("install libfaketime (Debian: apt-get install libfaketime)")
}
