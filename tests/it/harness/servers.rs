//! Services on one database, with root and a gateway.

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use super::{Client, MASTER_KEY, Server};

/// Running services that share a database and the master key.
pub struct Servers {
    pub running: Vec<Server>,
    pub root: Client,
    pub credential: String,
    database: String,
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
        let limits = ["LOGIN", "WRONG_KEYS"].map(|limit| (format!("KEYMETER_LIMITS__{limit}_PER_MINUTE"), "0".into()));
        let own = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings: Vec<_> = limits.into_iter().chain(own).collect();
        let dirs: Vec<_> = std::iter::repeat_with(|| tempfile::tempdir().unwrap()).take(count).collect();
        let mut running = Vec::new();
        for dir in &dirs {
            running.push(serve(dir, database, &settings).await);
        }
        let root = Client::root(&running[0]).await;
        let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        let credential = gateway["credential"].as_str().unwrap().to_owned();
        Self { running, root, credential, database: database.to_owned(), settings, dirs }
    }

    /// Starts the first service again after its end, on another port.
    pub async fn restart(&mut self) {
        self.running[0] = serve(&self.dirs[0], &self.database, &self.settings).await;
        self.root.base.clone_from(&self.running[0].base);
    }

    pub async fn pool(&self) -> PgPool {
        PgPool::connect(&self.database).await.unwrap()
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

async fn serve(dir: &TempDir, database: &str, settings: &[(String, String)]) -> Server {
    let base = [("DATABASE_URL", database), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let own = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Server::start(dir.path(), &base.into_iter().chain(own).collect::<Vec<_>>()).await
}
