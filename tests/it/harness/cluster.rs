//! A PostgreSQL server of one test, which the test can stop, crash and start again.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::process::{free_port, libfaketime};

/// Durable as in production (`fsync` on). Removed when dropped.
pub struct Cluster {
    home: tempfile::TempDir,
    bin: PathBuf,
    port: u16,
    has_movable_clock: bool,
}

impl Cluster {
    /// Creates and starts it.
    pub fn start() -> Self {
        Self::create(false)
    }

    /// The same with a clock of its own, for [`Cluster::set_clock`].
    pub fn with_movable_clock() -> Self {
        Self::create(true)
    }

    fn create(has_movable_clock: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        let cluster = Self { home, bin: programs(), port: free_port(), has_movable_clock };
        cluster.set_clock("+0");
        if running_as_root() {
            assert!(Command::new("chown").arg("postgres").arg(cluster.home.path()).status().unwrap().success());
        }
        cluster.run("initdb", &["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        cluster.resume();
        cluster
    }

    /// Starts it.
    pub fn resume(&self) {
        let socket = self.home.path().display();
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c fsync=on -k {socket}", self.port);
        self.run("pg_ctl", &["start", "-w", "-o", &options]);
    }

    /// Starts it with a certificate.
    pub fn resume_with_tls(&self, certificate: &Path, key: &Path) {
        for (from, to) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = self.home.path().join("data").join(to);
            std::fs::copy(from, &to).unwrap();
            std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o600)).unwrap();
            if running_as_root() {
                assert!(Command::new("chown").arg("postgres").arg(&to).status().unwrap().success());
            }
        }
        let settings = self.home.path().join("data/postgresql.auto.conf");
        std::fs::OpenOptions::new().append(true).open(settings).unwrap().write_all(b"ssl = on\n").unwrap();
        self.resume();
    }

    /// Starts it as a standby, which takes no writes.
    pub fn resume_as_standby(&self) {
        std::fs::write(self.home.path().join("data/standby.signal"), "").unwrap();
        self.resume();
    }

    /// Creates and starts a standby of it, which takes no writes until it is promoted.
    pub fn standby(&self) -> Self {
        let home = tempfile::tempdir().unwrap();
        if running_as_root() {
            assert!(Command::new("chown").arg("postgres").arg(home.path()).status().unwrap().success());
        }
        let standby = Self { home, bin: programs(), port: free_port(), has_movable_clock: false };
        let port = self.port.to_string();
        standby.run("pg_basebackup", &["-R", "-X", "stream", "-h", "127.0.0.1", "-U", "postgres", "-p", &port]);
        standby.resume();
        standby
    }

    /// Makes a standby a primary.
    pub fn promote(&self) {
        self.run("pg_ctl", &["promote", "-w"]);
    }

    /// Sets its clock ahead of the real one, also while it runs: `+40d`.
    pub fn set_clock(&self, ahead: &str) {
        // Renamed, so that no process reads half a file.
        let file = self.home.path().join("clock");
        std::fs::write(file.with_extension("new"), format!("{ahead}\n")).unwrap();
        std::fs::rename(file.with_extension("new"), file).unwrap();
    }

    /// Stops it like a crash.
    pub fn crash(&self) {
        self.run("pg_ctl", &["stop", "-m", "immediate"]);
    }

    /// Stops it like an operator: sessions end, and all data is on disk.
    pub fn stop(&self) {
        self.run("pg_ctl", &["stop", "-w", "-m", "fast"]);
    }

    /// Keeps a copy of its data. It must be stopped.
    pub fn save(&self) {
        self.copy("data", "saved");
    }

    /// Puts its data back as they were saved, as after a restore. It must be stopped.
    pub fn restore(&self) {
        std::fs::remove_dir_all(self.home.path().join("data")).unwrap();
        self.copy("saved", "data");
    }

    fn copy(&self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|name| self.home.path().join(name));
        assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
    }

    /// The path of one of PostgreSQL's programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// The path of its log.
    pub fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.host())
    }

    /// Host and port.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Runs one of PostgreSQL's programs. PostgreSQL refuses to run as root, so root runs it as the user `postgres`.
    fn run(&self, program: &str, arguments: &[&str]) {
        // The clock is set by `env`, after the change of the user: `runuser` would make libfaketime's semaphore as
        // root, and PostgreSQL could not open it.
        let mut command = Command::new(if running_as_root() { "runuser" } else { "env" });
        if running_as_root() {
            command.args(["-u", "postgres", "--", "env"]);
        }
        if self.has_movable_clock {
            let clock = self.home.path().join("clock");
            command
                .arg(format!("LD_PRELOAD={}", libfaketime()))
                .arg(format!("FAKETIME_TIMESTAMP_FILE={}", clock.display()));
            command.args(["FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"]);
        }
        command.arg(self.program(program));
        // The log goes to a file, because the server would keep a pipe open for as long as it runs.
        let log = self.log();
        let out = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        command.arg("-D").arg(self.home.path().join("data")).args(arguments).current_dir("/").stdin(Stdio::null());
        let status = command.stdout(out.try_clone().unwrap()).stderr(out).status().unwrap();
        assert!(status.success(), "{}", std::fs::read_to_string(log).unwrap());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.home.path().join("data/postmaster.pid").exists() {
            self.crash();
        }
    }
}

pub fn running_as_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// The directory of PostgreSQL's programs: `PG_BIN`, or that of the newest Debian package.
pub fn programs() -> PathBuf {
    if let Some(bin) = std::env::var_os("PG_BIN") {
        return bin.into();
    }
    let versions =
        std::fs::read_dir("/usr/lib/postgresql").expect("set PG_BIN to the directory of PostgreSQL's programs");
    let version = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest = versions.map(|entry| entry.unwrap().path()).max_by_key(|path| version(path));
    newest.unwrap().join("bin")
}
