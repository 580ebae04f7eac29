//! Services on one database, with root and a gateway.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use super::process::{private_postgres, run};
use super::{Client, MASTER_KEY, Server, database};

/// Running services that share a database and the master key; or one with its private PostgreSQL.
pub struct Servers {
    pub running: Vec<Server>,
    pub root: Client,
    pub credential: String,
    /// `None`: the private one.
    database: Option<String>,
    settings: Vec<(String, String)>,
    dirs: Vec<TempDir>,
}

/// A user with a wallet.
pub struct Owner {
    pub id: i64,
    pub client: Client,
}

impl Servers {
    /// Starts `count` services with these settings, without rate limits for logins and wrong keys.
    pub async fn start(database: &str, count: usize, settings: &[(&str, &str)]) -> Self {
        Self::start_on(Some(database), count, settings).await
    }

    /// Starts one service that starts its own PostgreSQL, as without `DATABASE_URL`.
    pub async fn start_private(settings: &[(&str, &str)]) -> Self {
        Self::start_on(None, 1, settings).await
    }

    async fn start_on(database: Option<&str>, count: usize, settings: &[(&str, &str)]) -> Self {
        let limits = ["LOGIN", "WRONG_KEYS"].map(|limit| (format!("KEYMETER_LIMITS__{limit}_PER_MINUTE"), "0".into()));
        let own = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut settings: Vec<_> = limits.into_iter().chain(own).collect();
        if let Some(url) = database {
            let base = [("DATABASE_URL", url), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
            settings.extend(base.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        let dirs: Vec<_> = std::iter::repeat_with(|| tempfile::tempdir().unwrap()).take(count).collect();
        let mut running = Vec::new();
        for dir in &dirs {
            running.push(Server::start(dir.path(), &borrowed(&settings)).await);
        }
        let root = Client::root(&running[0]).await;
        let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        let credential = gateway["credential"].as_str().unwrap().to_owned();
        Self { running, root, credential, database: database.map(str::to_owned), settings, dirs }
    }

    /// Starts the first service again after its end, on another port.
    pub async fn restart(&mut self) {
        self.running[0] = Server::start(self.dir(), &borrowed(&self.settings)).await;
        self.root.base.clone_from(&self.running[0].base);
    }

    pub async fn pool(&self) -> PgPool {
        let options = self.database.as_ref().map_or_else(|| database::private(self.dir()), |url| url.parse().unwrap());
        PgPool::connect_with(options).await.unwrap()
    }

    /// The process of the private PostgreSQL.
    pub fn private_postgres(&self) -> Option<u32> {
        private_postgres(self.dir())
    }

    /// Runs a command with the settings of the first service.
    pub fn run(&self, arguments: &[&str]) -> Output {
        run(self.dir(), &borrowed(&self.settings), arguments)
    }

    /// What `keymeter doctor` prints.
    pub fn doctor(&self) -> String {
        let output = self.run(&["doctor"]);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    fn dir(&self) -> &Path {
        self.dirs[0].path()
    }

    /// The gateway, which calls this service.
    pub fn gateway(&self, server: usize) -> Client {
        Client::with(&self.running[server], &self.credential)
    }

    /// Creates a user with this quota in the wallet, who calls the first service with an access token. The password is
    /// `"{name}'s password"`.
    pub async fn owner(&self, name: &str, quota: i64) -> Owner {
        let password = format!("{name}'s password");
        let account = json!({ "username": name, "password": password, "token_api_enabled": true, "quota": quota });
        let id = self.root.post("/api/admin/users", account).await.ok()["id"].as_i64().unwrap();
        let session = Client::signed_in(&self.running[0], name, &password).await;
        let token = session.get("/api/user/token").await.ok();
        Owner { id, client: Client::with(&self.running[0], token.as_str().unwrap()) }
    }
}

impl Owner {
    /// Creates a token and returns its id and its key.
    pub async fn key(&self, token: Value) -> (i64, String) {
        self.client.creates(token).await.unwrap()
    }

    /// Creates a token that only the wallet limits, and returns its key.
    pub async fn unlimited_key(&self) -> String {
        self.key(json!({ "name": "unlimited", "unlimited_quota": true })).await.1
    }
}

fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
