//! The server under test: a separate process, on a database with the tokens of one user among those of many others.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use keymeter::api::router::router_when_full;
use keymeter::app::connection_limits;
use keymeter::app::{self, App, Database, Use};
use keymeter::config::Config;
use keymeter::domain::cell::CellLabel;
use keymeter::domain::clock::SystemClock;
use keymeter::domain::key::ApiKey;
use keymeter::domain::secrets::AccessTokenSecret;
use keymeter::service::passwords::HashCost;
use keymeter::service::rng::Rng;
use keymeter::service::vault::{MasterKey, Vault};
use keymeter_connections::Routers;
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Connection, Executor, PgPool};

use crate::baselines;
use crate::process::{children, cpu_micros, kibibytes};

/// The argument with which this program is a server, see [`serve`].
pub const SERVE: &str = "--serve";

pub const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PASSWORD: &str = "benchmark password";
/// Tokens of the user whom the requests concern.
const OWN_TOKENS: usize = 50;
/// Tokens of each other user.
const TOKENS_EACH: usize = 100;
/// Users that send requests.
const PEOPLE: usize = 64;
/// Tokens of the one user whose wallet many keys share.
const TOKENS_OF_ONE_WALLET: usize = 1_000;
/// Rows inserted by one statement.
const STEP: usize = 50_000;
/// Keys that the load uses, of all loaded keys.
const KEYS: usize = 100_000;

/// A running server, and what requests to it need.
pub struct Installation {
    pub tokens: usize,
    pub access_token: String,
    /// Other users, each with an access token and many tokens.
    pub people: Vec<(i64, String)>,
    pub gateway: String,
    /// The newest token of the user.
    pub token_id: i64,
    pub key: String,
    /// Keys of other users, with enough quota for any number of charges.
    pub keys: Arc<[String]>,
    /// Keys of one more user.
    pub keys_of_one_wallet: Arc<[String]>,
    pub pool: PgPool,
    /// The name of the database.
    pub database: String,
    settings: Vec<(String, String)>,
    postmaster: u32,
    /// The program of the service that belongs to the database.
    program: String,
    /// The least id of a token.
    pub first_token: i64,
    pub server: Running,
}

/// A server in its own process, so that its memory is measured without the load generator. Dropping it kills the
/// process.
pub struct Running {
    process: Child,
    pub address: SocketAddr,
    /// The process of PostgreSQL that starts all others.
    postmaster: u32,
    // Kept open, because the server may print more.
    _output: BufReader<ChildStdout>,
}

/// Statements that run in a thread of their own.
pub struct Disturbance {
    stop: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Disturbance {
    /// Stops after the statements that run.
    pub fn stop(self) {
        drop(self.stop);
        self.thread.join().unwrap();
    }
}

impl Running {
    /// Starts the server and waits until it prints its address.
    fn start(mut command: Command, postmaster: u32) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let address = output
            .by_ref()
            .lines()
            .find_map(|line| line.unwrap().split("http://").nth(1).and_then(|rest| rest.trim().parse().ok()))
            .expect("the server prints its address");
        Self { process, address, postmaster, _output: output }
    }

    /// A field of the process status, such as `VmRSS`, in MiB; 0 on systems without it.
    pub fn mebibytes(&self, field: &str) -> f64 {
        kibibytes(self.process.id(), field).map_or(0.0, |kibibytes| kibibytes as f64 / 1_024.0)
    }

    /// Processor time so far, in microseconds.
    pub fn cpu_micros(&self) -> f64 {
        cpu_micros(self.process.id())
    }

    /// Processor time of all of PostgreSQL so far, in microseconds.
    pub fn postgres_cpu_micros(&self) -> f64 {
        let running: f64 = children(self.postmaster).into_iter().map(cpu_micros).sum();
        cpu_micros(self.postmaster) + running
    }

    /// Resets the peak of its memory, `VmHWM`, to the present value.
    pub fn reset_peak(&self) {
        // On failure, the peak is that since the start of the process.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server under test: the service and the baselines, with settings from the environment. Ends when its standard
/// input closes, so that it never outlives the program that started it.
pub async fn serve() {
    let config = Config::from_sources(None, std::env::vars_os()).unwrap();
    let opened = app::open(&config, &Database::start(&config, Use::Serve).await.unwrap()).await.unwrap();
    let app = App::assemble(opened, &config, Arc::new(SystemClock), Rng::system(), HashCost::STRONG).unwrap();
    app.state.users.ensure_root(config.root.password.as_ref()).await.unwrap();
    let pool = connect(&std::env::var("DATABASE_URL").unwrap()).await;
    let listener = keymeter_connections::listen("127.0.0.1:0", keymeter_connections::Sharing::Alone).await.unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    let router = baselines::routes(pool, Arc::clone(&app.state)).fallback_service(app.router);
    let routers = Routers { router, when_full: router_when_full(Arc::clone(&app.state)) };
    let draining = Arc::clone(&app.state.draining);
    let serve =
        keymeter_connections::serve(listener, routers, draining, connection_limits(&config), std::future::pending());
    tokio::spawn(serve);
    let input = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    input.await.unwrap().unwrap();
}

async fn connect(url: &str) -> PgPool {
    PgPoolOptions::new().max_connections(16).test_before_acquire(false).connect(url).await.unwrap()
}

impl Installation {
    /// Starts a server on a new database, and creates this number of tokens and charges of other users. The server is
    /// `program`, or without one this program, which has the baselines as well.
    pub async fn start(name: &str, program: Option<&str>, tokens: usize, charges: usize) -> Self {
        let base = std::env::var("DATABASE_URL").expect("DATABASE_URL: run this with `make bench`");
        let database = format!("keymeter_bench_{}_{name}", std::process::id());
        let mut conn = sqlx::PgConnection::connect(&base).await.unwrap();
        conn.execute(AssertSqlSafe(format!("create database {database}"))).await.unwrap();
        let url = base.rsplit_once('/').map(|(server, _)| format!("{server}/{database}")).unwrap();
        let settings = [
            ("DATABASE_URL", url.as_str()),
            ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
            ("KEYMETER_ROOT__PASSWORD", PASSWORD),
            ("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "0"),
            ("KEYMETER_LIMITS__USAGE_PER_MINUTE", "0"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        // Settings of the environment apply too, so that their effect can be measured.
        let given = std::env::vars().filter(|(name, _)| name.starts_with("KEYMETER_") && !name.contains("_TEST_"));
        let settings: Vec<_> = given.chain(settings).collect();
        let pool = connect(&url).await;
        let postmaster = parent(sqlx::query_scalar("select pg_backend_pid()").fetch_one(&pool).await.unwrap());
        let with_baselines = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.arg(SERVE).envs(settings.iter().cloned());
            command
        };
        let command = program.map_or_else(with_baselines, |program| serve_command(program, &settings));
        let server = Running::start(command, postmaster);
        // A running server's job would create these.
        let days = "select make_charges_partition(day) from missing_charges_partitions( \
                    extract(epoch from current_date - 10)::bigint, extract(epoch from current_date + 1)::bigint) day";
        pool.execute(days).await.unwrap();
        let users = load_users(&pool, "user", tokens.div_ceil(TOKENS_EACH)).await;
        let keys = load_tokens_of(&pool, &users, tokens).await;
        let people = load_access_tokens(&pool, &users[..users.len().min(PEOPLE)]).await;
        let first_token = sqlx::query_scalar("select min(id) from tokens").fetch_one(&pool).await.unwrap();
        let keys_of_one_wallet = load_tokens_of_one_user(&pool).await;
        load_charges(&pool, charges).await;
        let [access_token, gateway, key] = [const { String::new() }; 3];
        let mut installation = Self {
            tokens,
            access_token,
            people,
            gateway,
            token_id: 0,
            key,
            keys: keys.into(),
            keys_of_one_wallet: keys_of_one_wallet.into(),
            pool,
            database,
            settings,
            postmaster,
            program: program.unwrap_or(env!("CARGO_BIN_EXE_keymeter")).to_owned(),
            first_token,
            server,
        };
        installation.create_tokens_and_gateway().await;
        println!("vacuum and analyze");
        installation.pool.execute("vacuum analyze").await.unwrap();
        installation
    }

    /// Creates a user's tokens and a gateway through the API.
    async fn create_tokens_and_gateway(&mut self) {
        let client = reqwest::Client::builder().cookie_store(true).build().unwrap();
        let url = |path: &str| format!("http://{}{path}", self.server.address);
        let login = json!({ "username": "root", "password": PASSWORD });
        client.post(url("/api/user/login")).json(&login).send().await.unwrap().error_for_status().unwrap();
        let token: Value =
            client.get(url("/api/user/token")).header("origin", url("")).send().await.unwrap().json().await.unwrap();
        let access_token = token["data"].as_str().unwrap().to_owned();
        let authorised = |request: reqwest::RequestBuilder| request.header("authorization", &access_token);
        for n in 0..OWN_TOKENS {
            let body = json!({ "name": format!("token {n}"), "remain_quota": 500_000 });
            let request = authorised(client.post(url("/api/token/"))).header("prefer", "return=representation");
            let made: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
            self.token_id = made["data"]["id"].as_i64().unwrap();
            made["data"]["key"].as_str().unwrap().clone_into(&mut self.key);
        }
        let made = authorised(client.post(url("/api/admin/gateways"))).json(&json!({ "name": "bench" }));
        let made: Value = made.send().await.unwrap().json().await.unwrap();
        made["data"]["credential"].as_str().unwrap().clone_into(&mut self.gateway);
        self.access_token = access_token;
    }

    /// The address of its database.
    pub fn url(&self) -> &str {
        &self.settings.iter().rev().find(|(name, _)| name == "DATABASE_URL").unwrap().1
    }

    /// One more server on this database.
    pub fn start_another(&self) -> Running {
        Running::start(serve_command(&self.program, &self.settings), self.postmaster)
    }

    /// The ledger's line in the report of `keymeter doctor`, which must find nothing wrong.
    pub fn check_ledger(&self) -> String {
        let doctor = Command::new(&self.program).arg("doctor").envs(self.settings.iter().cloned()).output().unwrap();
        let found = String::from_utf8_lossy(&doctor.stdout);
        assert!(doctor.status.success(), "{found}");
        found.lines().filter(|line| line.contains("ledger")).map(str::to_owned).collect()
    }

    /// Runs statements on its database again and again.
    pub fn disturb(&self, statements: &'static [&'static str]) -> Disturbance {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let url = self.url().to_owned();
        let run = async move || {
            let mut conn = sqlx::PgConnection::connect(&url).await.unwrap();
            while matches!(stopped.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
                for statement in statements {
                    conn.execute(*statement).await.unwrap();
                }
            }
        };
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let thread = std::thread::spawn(move || runtime().block_on(run()));
        Disturbance { stop, thread }
    }

    pub async fn remove(&self) {
        self.pool.close().await;
        let base = std::env::var("DATABASE_URL").unwrap();
        let mut conn = sqlx::PgConnection::connect(&base).await.unwrap();
        let drop = format!("drop database {} with (force)", self.database);
        conn.execute(AssertSqlSafe(drop)).await.unwrap();
    }
}

/// A program of the service as a server at a free port.
fn serve_command(program: &str, settings: &[(String, String)]) -> Command {
    let mut command = Command::new(program);
    let listen = ("KEYMETER_SERVER__LISTEN", "127.0.0.1:0");
    command.arg("serve").envs(settings.iter().cloned()).env(listen.0, listen.1).stderr(Stdio::null());
    command
}

/// The process that started this one.
fn parent(pid: i32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
    parent.unwrap_or(0)
}

/// Loads one more user, with many tokens.
async fn load_tokens_of_one_user(pool: &PgPool) -> Vec<String> {
    let user = load_users(pool, "wallet", 1).await;
    load_tokens_of(pool, &user, TOKENS_OF_ONE_WALLET).await
}

/// Loads an access token of each user.
async fn load_access_tokens(pool: &PgPool, users: &[i64]) -> Vec<(i64, String)> {
    let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
    let mut loaded = Vec::new();
    for user in users {
        let secret = Rng::system().generate_fast(|rng| AccessTokenSecret::generate(rng));
        sqlx::query("insert into access_tokens (user_id, name, digest, created_time) values ($1, 'bench', $2, 0)")
            .bind(user)
            .bind(vault.digests().digest(secret.expose()).as_bytes())
            .execute(pool)
            .await
            .unwrap();
        loaded.push((*user, secret.expose().to_owned()));
    }
    loaded
}

/// Loads users with large wallets.
async fn load_users(pool: &PgPool, name: &str, users: usize) -> Vec<i64> {
    sqlx::query_scalar(
        "insert into users (username, username_folded, display_name, email, password_hash, role, status, group_name, \
         quota, used_quota, request_count, token_api_enabled, created_time, username_skeleton) \
         select $2 || n, $2 || n, '', '', '', 1, 1, 'default', 400000000000000, 0, 0, true, 0, \
         text_range($2 || n, $2 || n, '[]') \
         from generate_series(1, $1::bigint) n returning id",
    )
    .bind(i64::try_from(users).unwrap())
    .bind(name)
    .fetch_all(pool)
    .await
    .unwrap()
}

/// Loads tokens of these users in turn. Returns the first of the keys.
async fn load_tokens_of(pool: &PgPool, users: &[i64], tokens: usize) -> Vec<String> {
    let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
    let mut kept = Vec::new();
    let mut done = 0;
    while done < tokens {
        let next = (done + STEP).min(tokens);
        let (mut digests, mut sealed) = (Vec::new(), Vec::new());
        for _ in done..next {
            let (key, row) = Rng::system().generate_fast(|rng| {
                let key = ApiKey::generate(rng, CellLabel::default());
                let row = vault.seal(&key, rng);
                (key, row)
            });
            digests.push(row.digest.as_bytes().to_vec());
            sealed.push(row.sealed);
            if kept.len() < KEYS {
                kept.push(key.expose().to_owned());
            }
        }
        sqlx::query(
            "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
             created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
             model_limits, allow_ips, group_name, cross_group_retry) \
             select $3[1 + n % cardinality($3)], digest, sealed, 'abcdwxyz', 'token ' || n, 'token ' || n, '', 0, 0, \
             300000000000, false, 0, false, '', '', '', false \
             from unnest($1::bytea[], $2::bytea[]) with ordinality as k (digest, sealed, n)",
        )
        .bind(&digests)
        .bind(&sealed)
        .bind(users)
        .execute(pool)
        .await
        .unwrap();
        done = next;
        println!("loaded {done} of {tokens} tokens");
    }
    kept
}

/// Loads charges of the past ten days, and updates balances and daily usage as the ledger does.
async fn load_charges(pool: &PgPool, charges: usize) {
    const SLICE: i64 = 500_000;
    let total = i64::try_from(charges).unwrap();
    if total == 0 {
        return;
    }
    let mut done = 0;
    while done < total {
        let next = (done + SLICE).min(total);
        sqlx::query(
            "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
             select extract(epoch from (current_date - (1 + n % 10)::int))::bigint + n % 80000, id, user_id, 'gpt-4o', 5, 0, \
             900, 100 from (select n, id, user_id from generate_series($1::bigint + 1, $2::bigint) n \
             join tokens on id = 1 + n % (select max(id) from tokens)) c",
        )
        .bind(done)
        .bind(next)
        .execute(pool)
        .await
        .unwrap();
        done = next;
        println!("loaded {done} of {total} charges");
    }
    println!("summing the charges up");
    for sql in [
        "insert into usage_daily select token_id, (to_timestamp(at) at time zone 'utc')::date, model, user_id, sum(quota), count(*), \
         sum(prompt_tokens), sum(completion_tokens) from charges group by 1, 2, 3, 4",
        "update tokens t set used_quota = d.quota from \
         (select token_id, sum(quota) as quota from usage_daily group by 1) d where d.token_id = t.id",
        "update users u set used_quota = t.used from \
         (select user_id, sum(used_quota) as used from tokens group by 1) t where t.user_id = u.id",
        "update tokens t set period_day = d.day from \
         (select token_id, max(day) as day from usage_daily group by 1) d where d.token_id = t.id",
        "update users u set period_day = t.day from \
         (select user_id, max(period_day) as day from tokens group by 1) t where t.user_id = u.id",
        "select count_periods(min(id), max(id), 1) from users",
        "vacuum analyze",
        "checkpoint",
    ] {
        pool.execute(AssertSqlSafe(sql)).await.unwrap();
    }
}
