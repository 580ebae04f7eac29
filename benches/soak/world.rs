//! The servers, their database, and the users and tokens of the load.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::task::JoinError;

use crate::Options;
use crate::harness::{Client, Cluster, MASTER_KEY, Server};
use crate::records::Records;
use crate::watch::{LastActivity, ServerProcess, Windows};

/// Servers on the one database. The last one is never restarted, so that its memory shows the whole run.
pub const SERVERS: usize = 3;

/// Owners whose wallets never run empty, and owners whose wallets do.
const RICH_OWNERS: usize = 8;
const POOR_OWNERS: usize = 2;

const PLENTY: i64 = 1_000_000_000_000;
const LITTLE: i64 = 2_000;

/// A server must stop within this time after SIGTERM: its `server.drain_seconds` and a margin.
const STOP_TIMEOUT: Duration = Duration::from_secs(35);

/// Examples that are kept of each finding.
const EXAMPLES: usize = 5;

/// Distinguishes the sessions of this program from those of the servers.
pub const SESSION_NAME: &str = "soak";

/// The servers, the accounts of the load, and the results.
pub struct World {
    pub options: Options,
    pub began: Instant,
    // Servers end before their database.
    pub servers: Vec<Slot>,
    pub cluster: Cluster,
    pub pool: PgPool,
    pub root: String,
    pub gateway: String,
    pub owners: Vec<Owner>,
    pub tokens: Vec<LoadToken>,
    pub records: Records,
    pub tallies: Tallies,
    pub windows: Windows,
    pub last_activity: LastActivity,
    /// Every process of every server so far.
    pub processes: Mutex<Vec<ServerProcess>>,
    pub stop: AtomicBool,
    findings: Mutex<BTreeMap<&'static str, (usize, Vec<String>)>>,
    home: PathBuf,
}

/// A server, which may be down, or restarted as another process.
pub struct Slot {
    pub dir: PathBuf,
    pub process: tokio::sync::Mutex<Option<Server>>,
    base: RwLock<String>,
    /// 0 while it is down.
    pub pid: AtomicU32,
}

/// An account with a wallet.
pub struct Owner {
    pub id: i64,
    pub name: String,
    pub password: String,
    pub access_token: String,
    pub is_rich: bool,
    /// The quota that was certainly granted to its wallet, and the quota that may have been granted in addition.
    pub granted: AtomicI64,
    pub maybe_granted: AtomicI64,
}

/// How a token of the load is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Unlimited, one per owner, charged continuously through every server.
    Probe,
    /// Unlimited.
    Unlimited,
    /// Limited, with more quota than is ever spent.
    Plenty,
    /// Limited, soon exhausted, never refilled.
    Tiny,
    /// Limited, refilled from time to time.
    Refilled,
}

/// A token that exists for the whole run.
pub struct LoadToken {
    pub id: i64,
    pub key: String,
    pub owner: usize,
    pub budget: Budget,
    /// The quota granted to a limited token; an upper bound for a refilled one.
    pub granted: AtomicI64,
}

/// The results of the operations of one name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub done: u64,
    pub refused: u64,
    pub unavailable: u64,
    pub unanswered: u64,
    pub longest: Duration,
}

/// By the names of operations.
#[derive(Default)]
pub struct Tallies(Mutex<BTreeMap<&'static str, Tally>>);

impl Tallies {
    pub fn add(&self, name: &'static str, took: Duration, add: impl FnOnce(&mut Tally)) {
        let mut all = self.0.lock().unwrap();
        let tally = all.entry(name).or_default();
        tally.longest = tally.longest.max(took);
        add(tally);
    }

    pub fn all(&self) -> BTreeMap<&'static str, Tally> {
        self.0.lock().unwrap().clone()
    }
}

impl World {
    /// Starts everything and makes the accounts and tokens of the load.
    pub async fn start(options: Options) -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("soak-{}", options.seed));
        // Left by an earlier run with the same seed.
        let _ = std::fs::remove_dir_all(&home);
        let cluster = Cluster::start();
        let mut servers = Vec::new();
        for n in 0..SERVERS {
            let slot = Slot::new(home.join(format!("server-{n}")));
            slot.start(&cluster).await;
            servers.push(slot);
        }
        let connect: PgConnectOptions = cluster.url().parse().unwrap();
        let pool = PgPoolOptions::new().max_connections(4).connect_lazy_with(connect.application_name(SESSION_NAME));
        let mut world = Self {
            began: Instant::now(),
            windows: Windows::default(),
            last_activity: LastActivity::new(SERVERS, RICH_OWNERS + POOR_OWNERS),
            options,
            servers,
            cluster,
            pool,
            root: String::new(),
            gateway: String::new(),
            owners: Vec::new(),
            tokens: Vec::new(),
            records: Records::default(),
            tallies: Tallies::default(),
            processes: Mutex::default(),
            stop: AtomicBool::new(false),
            findings: Mutex::default(),
            home,
        };
        world.create_accounts().await;
        world.log(&format!(
            "{SERVERS} servers, {} owners, {} tokens, {} clients; logs in {}",
            world.owners.len(),
            world.tokens.len(),
            world.options.clients,
            world.home.display()
        ));
        world
    }

    async fn create_accounts(&mut self) {
        let process = self.servers[0].process.lock().await;
        let server = process.as_ref().unwrap();
        let root = Client::root(server).await;
        root.headers["authorization"].to_str().unwrap().clone_into(&mut self.root);
        let gateway = root.post("/api/admin/gateways", json!({ "name": "soak" })).await.ok();
        gateway["credential"].as_str().unwrap().clone_into(&mut self.gateway);
        for n in 0..RICH_OWNERS + POOR_OWNERS {
            let (name, is_rich) = (format!("owner{n}"), n < RICH_OWNERS);
            let password = format!("{name}'s password");
            let account = json!({ "username": name, "password": password, "token_api_enabled": true });
            root.post("/api/admin/users", account).await.ok();
            let session = Client::signed_in(server, &name, &password).await;
            let id = session.get("/api/user/self").await.ok()["id"].as_i64().unwrap();
            let access_token = session.get("/api/user/token").await.ok().as_str().unwrap().to_owned();
            let quota = if is_rich { PLENTY } else { LITTLE };
            root.post(&format!("/api/admin/users/{id}/quota"), json!({ "set": quota })).await.ok();
            let (granted, maybe_granted) = (AtomicI64::new(quota), AtomicI64::new(0));
            let client = Client::with(server, &access_token);
            self.owners.push(Owner { id, name, password, access_token, is_rich, granted, maybe_granted });
            let budgets: &[(Budget, i64, usize)] = if is_rich {
                &[
                    (Budget::Probe, 0, 1),
                    (Budget::Plenty, PLENTY, 12),
                    (Budget::Unlimited, 0, 6),
                    (Budget::Tiny, 1_000, 3),
                    (Budget::Refilled, 300, 3),
                ]
            } else {
                &[(Budget::Plenty, PLENTY, 4), (Budget::Unlimited, 0, 2)]
            };
            for &(budget, quota, count) in budgets {
                for _ in 0..count {
                    let is_unlimited = matches!(budget, Budget::Probe | Budget::Unlimited);
                    let name = format!("{budget:?} {}", self.tokens.len());
                    let token = json!({ "name": name, "remain_quota": quota, "unlimited_quota": is_unlimited });
                    let (id, key) = client.creates(token).await.unwrap();
                    self.tokens.push(LoadToken { id, key, owner: n, budget, granted: AtomicI64::new(quota) });
                }
            }
        }
    }

    /// The base URL of a server; the last one if it is down.
    pub fn base(&self, server: usize) -> String {
        self.servers[server].base.read().unwrap().clone()
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Prints a line with the time.
    pub fn log(&self, line: &str) {
        let seconds = self.began.elapsed().as_secs();
        println!("{:02}:{:02}  {line}", seconds / 60, seconds % 60);
    }

    /// Records a finding. The run continues and fails at its end.
    pub fn record_finding(&self, what: &'static str, detail: &str) {
        let mut findings = self.findings.lock().unwrap();
        let (count, examples) = findings.entry(what).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            let seconds = self.began.elapsed().as_secs();
            examples.push(format!("at {:02}:{:02}: {detail}", seconds / 60, seconds % 60));
            self.log(&format!("FAILED  {what}: {detail}"));
        }
    }

    /// Records a panic of a task as a finding.
    pub fn record_panic(&self, ended: Result<(), JoinError>, who: &str) {
        if let Err(error) = ended {
            self.record_finding("the soak test itself failed", &format!("{who}: {error}"));
        }
    }

    /// The findings: how often each occurred, and the first examples.
    pub fn findings(&self) -> BTreeMap<&'static str, (usize, Vec<String>)> {
        self.findings.lock().unwrap().clone()
    }

    /// The directory of the logs.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// SIGTERM of a server that runs, which must then stop cleanly.
    pub async fn stop_server(&self, server: usize) {
        self.servers[server].signal("TERM").await;
        let code = self.servers[server].wait_for_exit(STOP_TIMEOUT).await;
        if code != Some(0) {
            self.record_finding("a server did not stop cleanly", &format!("server {server}: exit code {code:?}"));
        }
    }

    /// Keeps the logs if a check failed.
    pub fn end(&self, passed: bool) {
        if passed {
            let _ = std::fs::remove_dir_all(&self.home);
        } else {
            let _ = std::fs::copy(self.cluster.log(), self.home.join("postgresql.log"));
        }
    }
}

impl Slot {
    fn new(dir: PathBuf) -> Self {
        std::fs::create_dir_all(&dir).unwrap();
        Self { dir, process: tokio::sync::Mutex::default(), base: RwLock::default(), pid: AtomicU32::new(0) }
    }

    /// Starts the server, which must be down.
    pub async fn start(&self, cluster: &Cluster) {
        let settings = settings(&cluster.url());
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let server = Server::start(&self.dir, &settings).await;
        self.base.write().unwrap().clone_from(&server.base);
        self.pid.store(server.child.id(), Ordering::SeqCst);
        *self.process.lock().await = Some(server);
    }

    /// Sends a signal such as `"STOP"`.
    pub async fn signal(&self, name: &str) {
        self.process.lock().await.as_ref().expect("the server is running").signal(name);
    }

    /// `kill -9`.
    pub async fn kill(&self) {
        self.pid.store(0, Ordering::SeqCst);
        self.process.lock().await.take().expect("the server is running").kill();
    }

    /// Waits until it has ended by itself, and returns its exit code; `None` if it was killed, or if it is still
    /// running after `timeout`.
    pub async fn wait_for_exit(&self, timeout: Duration) -> Option<i32> {
        let mut server = self.process.lock().await.take().expect("the server is running");
        let since = Instant::now();
        let ended = loop {
            match server.child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if since.elapsed() > timeout => break None,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        self.pid.store(0, Ordering::SeqCst);
        ended
    }
}

/// The settings of every server. The rate limits are the defaults. Each client sends an address of its own in
/// `X-Forwarded-For`, as a proxy does.
pub fn settings(url: &str) -> [(&'static str, String); 4] {
    [
        ("DATABASE_URL", url.to_owned()),
        ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY.to_owned()),
        ("KEYMETER_SERVER__TRUSTED_PROXIES", "127.0.0.1/32".to_owned()),
        ("KEYMETER_LOG__FILTER", "warn".to_owned()),
    ]
}
