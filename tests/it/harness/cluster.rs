//! A PostgreSQL of a test's own, which can crash and come back.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::wire::free_port;

/// It writes as durably as in production. Gone when dropped.
pub struct Cluster {
    home: tempfile::TempDir,
    bin: PathBuf,
    port: u16,
}

impl Cluster {
    /// Makes one and starts it.
    pub fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let cluster = Self { home, bin: programs(), port: free_port() };
        if we_are_root() {
            assert!(Command::new("chown").arg("postgres").arg(cluster.home.path()).status().unwrap().success());
        }
        cluster.does("initdb", &["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        cluster.resume();
        cluster
    }

    /// Starts it again.
    pub fn resume(&self) {
        let socket = self.home.path().display();
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c fsync=on -k {socket}", self.port);
        self.does("pg_ctl", &["start", "-w", "-o", &options]);
    }

    /// As a crash would stop it.
    pub fn crash(&self) {
        self.does("pg_ctl", &["stop", "-m", "immediate"]);
    }

    /// As an operator restarts it: every session is ended, and what it has written is on disk.
    pub fn stop(&self) {
        self.does("pg_ctl", &["stop", "-w", "-m", "fast"]);
    }

    /// Where one of its programs is.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// What it wrote to its log.
    pub fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Runs one of its programs, as the user `postgres` where we are root: PostgreSQL refuses to run as root.
    fn does(&self, program: &str, arguments: &[&str]) {
        let program = self.program(program);
        let mut command = if we_are_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // The log goes to a file: the server would keep a pipe of ours open for as long as it runs.
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

fn we_are_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Where PostgreSQL's programs are: `PG_BIN`, or the newest that Debian's packages hold.
fn programs() -> PathBuf {
    if let Some(bin) = std::env::var_os("PG_BIN") {
        return bin.into();
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PG_BIN must name PostgreSQL's programs");
    let version = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest = versions.map(|entry| entry.unwrap().path()).max_by_key(|path| version(path));
    newest.unwrap().join("bin")
}
