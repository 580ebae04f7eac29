//! The real binary as a process of its own, on a port of its own, with a real HTTP client.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A running `keymeter serve`. Killed when dropped.
pub struct Server {
    pub child: Child,
    pub base: String,
    pub log: std::path::PathBuf,
}

/// What the program inherits: nothing that configures it, but the conditions that `docs/testing.md` varies.
const INHERITED: [&str; 8] = ["PATH", "HOME", "TZ", "LANG", "LC_ALL", "LD_PRELOAD", "FAKETIME", "DONT_FAKE_MONOTONIC"];

/// `keymeter` with an environment that configures nothing, its data in `dir`, listening on a port that the system
/// chooses.
pub fn keymeter(dir: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keymeter"));
    command.env_clear();
    command.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.env("KEYMETER_DATA_DIR", dir.join("data")).env("KEYMETER_SERVER__LISTEN", "127.0.0.1:0");
    command.env("KEYMETER_ROOT__PASSWORD", super::ROOT_PASSWORD);
    // No load balancer has to turn away here.
    command.env("KEYMETER_SERVER__STOP_DELAY_SECONDS", "0");
    command.envs(settings.iter().copied());
    command
}

/// Runs a command line to its end.
pub fn run(dir: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Output {
    keymeter(dir, settings).args(arguments).output().unwrap()
}

impl Server {
    /// Starts and waits until it says where it answers. Output goes to a file in `dir`.
    pub async fn start(dir: &Path, settings: &[(&str, &str)]) -> Self {
        Self::start_with(dir, settings, &[]).await
    }

    /// The same with arguments of `serve`.
    pub async fn start_with(dir: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut command = keymeter(dir, settings);
        command.arg("serve").args(arguments);
        Self::spawn(dir, command).await
    }

    /// The same with a command line of one's own.
    pub async fn spawn(dir: &Path, mut command: Command) -> Self {
        let log = dir.join("keymeter.log");
        let out = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let before = std::fs::metadata(&log).unwrap().len();
        let child = command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
        let mut server = Self { child, base: String::new(), log };
        for _ in 0..600 {
            let text = server.log_since(before);
            if let Some(rest) = text.split("answers at ").nth(1) {
                server.base = rest.split_whitespace().next().unwrap().to_owned();
                return server;
            }
            assert!(server.child.try_wait().unwrap().is_none(), "it stopped: {text}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it did not start: {}", server.log_since(before));
    }

    fn log_since(&self, start: u64) -> String {
        let bytes = std::fs::read(&self.log).unwrap();
        String::from_utf8_lossy(&bytes[usize::try_from(start).unwrap()..]).into_owned()
    }

    /// Sends a signal by name, such as `"TERM"`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().unwrap().code()
    }

    /// A client signed in as root, by access token.
    pub async fn root(&self) -> reqwest::Client {
        let client = reqwest::Client::builder().cookie_store(true).build().unwrap();
        let login = serde_json::json!({ "username": "root", "password": super::ROOT_PASSWORD });
        let answer = client.post(format!("{}/api/user/login", self.base)).json(&login).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let minted: serde_json::Value =
            client.get(format!("{}/api/user/token", self.base)).send().await.unwrap().json().await.unwrap();
        let token = minted["data"].as_str().unwrap();
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert("authorization", token.parse().unwrap());
        reqwest::Client::builder().default_headers(headers).build().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
