//! How fast the service answers, as ratios: each call beside a twin handler that runs one bare
//! select of the same rows, interleaved in one run. `make bench`, or `make bench-growth` for the
//! same calls among 10,000 and among 1,000,000 tokens of other people.
//!
//! Server, database and load generator share the machine, so bare rates mean little; ratios do.

#![allow(
    missing_docs,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::format_push_string,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program: it prints, divides, asks its own questions, and may stop when something is off"
)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use keymeter::app::{self, App, Database};
use keymeter::config::Config;
use keymeter::domain::key::ApiKey;
use keymeter::domain::time::SystemClock;
use keymeter::service::dice::Dice;
use keymeter::service::vault::{MasterKey, Vault};
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, Executor, PgPool};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PASSWORD: &str = "benchmark password";
const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
/// Tokens of the one user who is asked about.
const OWN_TOKENS: usize = 50;
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/performance.md");

fn main() {
    let options = Options::read();
    let server = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rows: &[i64] = if options.growth { &[10_000, 1_000_000] } else { &[10_000] };
    if options.ledger {
        let mut bench = server.block_on(Bench::start(10_000));
        let keys = server.block_on(bench.make_keys());
        let table = ledger(&client, &bench, &keys, &options);
        println!("\n{table}");
        write_report("ledger", &table, &options);
        server.block_on(bench.remove());
        return;
    }
    let sites: Vec<Bench> = rows.iter().map(|rows| server.block_on(Bench::start(*rows))).collect();
    let (title, table) = if options.growth {
        ("growth", growth(&client, &sites, &options))
    } else {
        ("calls", calls(&client, &sites[0], &options))
    };
    println!("\n{table}");
    write_report(title, &table, &options);
    for site in &sites {
        server.block_on(site.remove());
    }
}

struct Options {
    growth: bool,
    ledger: bool,
    connections: usize,
    rounds: usize,
    seconds: f64,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { growth: false, ledger: false, connections: 64, rounds: 5, seconds: 2.0 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|n| n.parse::<f64>().ok()).expect("a number");
            match word.as_str() {
                "--growth" => options.growth = true,
                "--ledger" => {
                    options.ledger = true;
                    options.connections = 256;
                }
                "--connections" => options.connections = number().round().to_string().parse().unwrap(),
                "--rounds" => options.rounds = number().round().to_string().parse().unwrap(),
                "--seconds" => options.seconds = number(),
                "--bench" => {}
                other => panic!("unknown option {other}; there are --ledger --growth --connections --rounds --seconds"),
            }
        }
        options
    }
}

/// One server on one database, with tokens of other people around those of `ana`.
struct Bench {
    rows: i64,
    address: SocketAddr,
    database: String,
    access_token: String,
    token_id: i64,
    key: String,
}

impl Bench {
    async fn start(rows: i64) -> Self {
        let base = std::env::var("DATABASE_URL").expect("DATABASE_URL: run this with `make bench`");
        let database = format!("keymeter_bench_{}_{rows}", std::process::id());
        let mut conn = sqlx::PgConnection::connect(&base).await.unwrap();
        conn.execute(sqlx::AssertSqlSafe(format!("create database {database}"))).await.unwrap();
        let url = base.rsplit_once('/').map(|(server, _)| format!("{server}/{database}")).unwrap();
        let settings = [
            ("DATABASE_URL", url.as_str()),
            ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
            ("KEYMETER_ROOT__PASSWORD", PASSWORD),
            ("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "0"),
            ("KEYMETER_LIMITS__USAGE_PER_MINUTE", "0"),
        ];
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let config = Config::from_sources(None, settings).unwrap();
        let opened = app::open(&config, &Database::start(&config).unwrap()).await.unwrap();
        let app = App::assemble(opened, &config, Arc::new(SystemClock), Dice::system()).unwrap();
        app.site.accounts.ensure_root(config.root.password.as_ref()).await.unwrap();
        let pool = PgPoolOptions::new().max_connections(16).test_before_acquire(false).connect(&url).await.unwrap();
        load(&pool, rows).await;

        let twins = Router::new()
            .route("/twin/nothing", get(|| async { Json(json!({ "success": true, "message": "" })) }))
            .route("/twin/list", get(twin_list))
            .route("/twin/search", get(twin_search))
            .route("/twin/get", get(twin_get))
            .route("/twin/usage", get(twin_usage))
            .route("/twin/charge", post(twin_charge))
            .with_state(pool.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        let service = twins.fallback_service(app.router).into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });

        let mut bench = Self { rows, address, database, access_token: String::new(), token_id: 0, key: String::new() };
        bench.make_ana(&pool).await;
        pool.execute("vacuum analyze").await.unwrap();
        bench
    }

    /// One user with some tokens, through the API as anyone would.
    async fn make_ana(&mut self, pool: &PgPool) {
        let client = reqwest::Client::builder().cookie_store(true).build().unwrap();
        let url = |path: &str| format!("http://{}{path}", self.address);
        let login = json!({ "username": "root", "password": PASSWORD });
        client.post(url("/api/user/login")).json(&login).send().await.unwrap().error_for_status().unwrap();
        let minted: Value = client.get(url("/api/user/token")).send().await.unwrap().json().await.unwrap();
        let access_token = minted["data"].as_str().unwrap().to_owned();
        let authorised = |request: reqwest::RequestBuilder| request.header("authorization", &access_token);
        for n in 0..OWN_TOKENS {
            let body = json!({ "name": format!("token {n}"), "remain_quota": 500_000 });
            let request = authorised(client.post(url("/api/token/"))).header("prefer", "return=representation");
            let made: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
            self.token_id = made["data"]["id"].as_i64().unwrap();
            made["data"]["key"].as_str().unwrap().clone_into(&mut self.key);
        }
        // The twins ask for the same rows with literal ids.
        let digest: Vec<u8> = sqlx::query_scalar("select key_digest from tokens where id = $1")
            .bind(self.token_id)
            .fetch_one(pool)
            .await
            .unwrap();
        sqlx::query("create table twin (token_id bigint, digest bytea)").execute(pool).await.unwrap();
        sqlx::query("insert into twin values ($1, $2)").bind(self.token_id).bind(digest).execute(pool).await.unwrap();
        self.access_token = access_token;
    }

    /// The requests by name: the call and its twin.
    fn requests(&self) -> BTreeMap<&'static str, (String, String)> {
        let request = get_request;
        let call = |path: &str| request(path, &self.access_token);
        let bearer = format!("Bearer {}", self.key);
        BTreeMap::from([
            ("list", (call("/api/token/?p=0&size=10"), call("/twin/list"))),
            ("search", (call("/api/token/search?keyword=token%201"), call("/twin/search"))),
            ("get", (call(&format!("/api/token/{}", self.token_id)), call(&format!("/twin/get?id={}", self.token_id)))),
            (
                "usage by key",
                (request("/api/usage/token/", &bearer), call(&format!("/twin/usage?id={}", self.token_id))),
            ),
        ])
    }

    /// A gateway, and 100,000 keys of 1,000 rich users, which live in the table like any others.
    async fn make_keys(&mut self) -> Vec<String> {
        let base = std::env::var("DATABASE_URL").unwrap();
        let url = base.rsplit_once('/').map(|(server, _)| format!("{server}/{}", self.database)).unwrap();
        let pool = PgPool::connect(&url).await.unwrap();
        let users: Vec<i64> = sqlx::query_scalar(
            "insert into users (username, username_folded, display_name, email, password_hash, role, status, \
             group_name, quota, used_quota, request_count, token_api_enabled, created_time) \
             select 'rich' || n, 'rich' || n, '', '', '', 1, 1, 'default', 400000000000000, 0, 0, true, 0 \
             from generate_series(1, 1000) n returning id",
        )
        .fetch_all(&pool)
        .await
        .unwrap();
        let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
        let keys: Vec<ApiKey> =
            (0..100_000).map(|_| Dice::system().roll_quickly(|dice| ApiKey::generate(dice))).collect();
        let digests: Vec<Vec<u8>> = keys.iter().map(|key| vault.digest(key).as_bytes().to_vec()).collect();
        sqlx::query(
            "insert into tokens (user_id, key_digest, key_sealed, key_hint, switched_on, name, name_folded, \
             created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
             model_limits, allow_ips, group_name, cross_group_retry) \
             select $2[1 + n % 1000], digest, '\\x00', 'abcdwxyz', true, 'key', 'key', 0, 0, 300000000000, false, 0, false, \
             '', '', '', false from unnest($1::bytea[]) with ordinality as k (digest, n)",
        )
        .bind(&digests)
        .bind(&users)
        .execute(&pool)
        .await
        .unwrap();
        pool.execute("vacuum analyze").await.unwrap();
        let client = reqwest::Client::new();
        let made = client.post(format!("http://{}/api/admin/gateways", self.address));
        let made = made.header("authorization", &self.access_token).json(&json!({ "name": "bench" }));
        let made: Value = made.send().await.unwrap().json().await.unwrap();
        made["data"]["credential"].as_str().unwrap().clone_into(&mut self.access_token);
        keys.iter().map(|key| key.expose().to_owned()).collect()
    }

    async fn remove(&self) {
        let base = std::env::var("DATABASE_URL").unwrap();
        let mut conn = sqlx::PgConnection::connect(&base).await.unwrap();
        let drop = format!("drop database {} with (force)", self.database);
        conn.execute(sqlx::AssertSqlSafe(drop)).await.unwrap();
    }
}

fn get_request(path: &str, authorization: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: {authorization}\r\n\r\n")
}

fn post_request(path: &str, authorization: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: bench\r\nauthorization: {authorization}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Fills the database with other people's tokens, a hundred each.
async fn load(pool: &PgPool, rows: i64) {
    const STEP: i64 = 100_000;
    let users = rows / 100;
    sqlx::query(
        "insert into users (username, username_folded, display_name, email, password_hash, role, status, group_name, \
         quota, used_quota, request_count, token_api_enabled, created_time) \
         select 'user' || n, 'user' || n, '', '', '', 1, 1, 'default', 0, 0, 0, true, 0 from generate_series(1, $1) n",
    )
    .bind(users)
    .execute(pool)
    .await
    .unwrap();
    let mut done = 0;
    while done < rows {
        let next = (done + STEP).min(rows);
        sqlx::query(
            "insert into tokens (user_id, key_digest, key_sealed, key_hint, switched_on, name, name_folded, \
             created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
             model_limits, allow_ips, group_name, cross_group_retry) \
             select 2 + n % $3, sha256(n::text::bytea), decode(repeat('00', 92), 'hex'), 'abcdwxyz', true, \
             'token ' || n, 'token ' || n, 0, 0, 500000, false, 0, false, '', '', '', false \
             from generate_series($1::bigint + 1, $2::bigint) n",
        )
        .bind(done)
        .bind(next)
        .bind(users)
        .execute(pool)
        .await
        .unwrap();
        done = next;
        println!("loaded {done} of {rows} tokens");
    }
}

/// A name, where to, and the requests to send in turn.
type Case = (String, SocketAddr, Vec<String>);

type Row = (i64, i64, String, bool, String, i64, i64, Option<i64>, i64, bool, i64, bool, String, String, String, bool);

const COLUMNS: &str = "id, user_id, key_hint, switched_on, name, created_time, accessed_time, expires_at, remain_quota, \
                       unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, group_name, \
                       cross_group_retry";

async fn twin_list(State(pool): State<PgPool>) -> Json<Vec<Row>> {
    let sql = format!(
        "select {COLUMNS} from tokens where user_id = 1 and deleted_time is null order by id desc limit 10 offset 0"
    );
    Json(sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(&pool).await.unwrap())
}

async fn twin_search(State(pool): State<PgPool>) -> Json<Vec<Row>> {
    let sql = format!(
        "select {COLUMNS} from tokens where user_id = 1 and deleted_time is null and name_folded like '%token 1%' \
         order by id desc limit 10 offset 0"
    );
    Json(sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(&pool).await.unwrap())
}

/// The naive way to charge: one transaction a request, with the same locks, reads and writes.
async fn twin_charge(State(pool): State<PgPool>, Json(body): Json<Value>) -> Json<Value> {
    let vault = VAULT.get_or_init(|| Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap()));
    let digest = vault.digest(&ApiKey::parse(body["key"].as_str().unwrap()).unwrap());
    let quota = body["quota"].as_i64().unwrap();
    let mut tx = pool.begin().await.unwrap();
    let (token, user): (i64, i64) =
        sqlx::query_as("select id, user_id from tokens where key_digest = $1 and deleted_time is null")
            .bind(digest.as_bytes())
            .fetch_one(&mut *tx)
            .await
            .unwrap();
    let wallet = "select quota from users where id = $1 for no key update";
    let _: i64 = sqlx::query_scalar(wallet).bind(user).fetch_one(&mut *tx).await.unwrap();
    let account = "select remain_quota from tokens where id = $1 for no key update";
    let remain: i64 = sqlx::query_scalar(account).bind(token).fetch_one(&mut *tx).await.unwrap();
    for (sql, id) in [
        (
            "update users set quota = quota - $2, used_quota = used_quota + $2, request_count = request_count + 1 where id = $1",
            user,
        ),
        ("update tokens set remain_quota = remain_quota - $2, used_quota = used_quota + $2 where id = $1", token),
        (
            "insert into usage_daily as d values ($1, '2026-01-01', '', $2, 1, 0, 0) on conflict (token_id, day, model) \
             do update set quota = d.quota + excluded.quota, requests = d.requests + 1",
            token,
        ),
        (
            "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
             select 0, id, user_id, '', $2, 0, 0, 0 from tokens where id = $1",
            token,
        ),
    ] {
        sqlx::query(sql).bind(id).bind(quota).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    Json(json!({ "success": true, "data": { "charged": quota, "remain_quota": remain - quota } }))
}

static VAULT: std::sync::OnceLock<Vault> = std::sync::OnceLock::new();

#[derive(serde::Deserialize)]
struct Which {
    id: i64,
}

async fn twin_get(State(pool): State<PgPool>, which: axum::extract::Query<Which>) -> Json<Row> {
    let sql = format!("select {COLUMNS} from tokens where user_id = 1 and id = $1 and deleted_time is null");
    Json(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(which.id).fetch_one(&pool).await.unwrap())
}

async fn twin_usage(State(pool): State<PgPool>, which: axum::extract::Query<Which>) -> Json<Value> {
    let sql = "select t.name, t.remain_quota, t.used_quota, u.quota from tokens t join users u on u.id = t.user_id \
               where t.id = $1 and t.deleted_time is null";
    let row: (String, i64, i64, i64) = sqlx::query_as(sql).bind(which.id).fetch_one(&pool).await.unwrap();
    Json(json!({ "name": row.0, "remain": row.1, "used": row.2, "wallet": row.3 }))
}

/// What a case did, over all rounds.
#[derive(Default)]
struct Measured {
    rates: Vec<f64>,
    micros: Vec<u32>,
}

impl Measured {
    fn rate(&self) -> f64 {
        median(&self.rates)
    }

    fn percentile(&mut self, percent: usize) -> f64 {
        self.micros.sort_unstable();
        let at = (self.micros.len() * percent / 100).min(self.micros.len().saturating_sub(1));
        f64::from(self.micros.get(at).copied().unwrap_or(0)) / 1_000.0
    }
}

/// Each call beside its twin, and the bare handler beside all.
fn calls(client: &tokio::runtime::Runtime, bench: &Bench, options: &Options) -> String {
    let bare = "GET /twin/nothing HTTP/1.1\r\nhost: bench\r\n\r\n".to_owned();
    let layers = "GET /healthz HTTP/1.1\r\nhost: bench\r\n\r\n".to_owned();
    let mut cases = vec![("bare handler".to_owned(), bare), ("all layers, no work".to_owned(), layers)];
    for (name, (call, twin)) in bench.requests() {
        cases.push((name.to_owned(), call));
        cases.push((format!("{name}: twin"), twin));
    }
    let cases: Vec<Case> = cases.into_iter().map(|(name, request)| (name, bench.address, vec![request])).collect();
    let mut measured = run(client, &cases, options);
    let floor = measured["bare handler"].rate();
    let mut table =
        "| call | rate/s | p50 ms | p99 ms | ÷ bare handler | ÷ twin |\n|---|---:|---:|---:|---:|---:|\n".to_owned();
    for (name, ..) in &cases {
        let ratio = measured.get(&format!("{name}: twin")).map(|twin| ratios(&measured[name].rates, &twin.rates));
        let case = measured.get_mut(name).unwrap();
        let (rate, p50, p99) = (case.rate(), case.percentile(50), case.percentile(99));
        let ratio = ratio.map_or_else(String::new, |ratio| format!("**{ratio:.2}**"));
        table += &format!("| {name} | {rate:.0} | {p50:.2} | {p99:.2} | {:.2} | {ratio} |\n", rate / floor);
    }
    table
}

/// Verify beside the bare handler, charges beside the naive way.
fn ledger(client: &tokio::runtime::Runtime, bench: &Bench, keys: &[String], options: &Options) -> String {
    let each = |path: &str, body: fn(&String) -> Value, keys: &[String]| -> Vec<String> {
        keys.iter().map(|key| post_request(path, &bench.access_token, &body(key))).collect()
    };
    let charge: fn(&String) -> Value = |key| json!({ "key": key, "quota": 1 });
    let verify: fn(&String) -> Value = |key| json!({ "key": key });
    let bare = "GET /twin/nothing HTTP/1.1\r\nhost: bench\r\n\r\n".to_owned();
    let case = |name: &str, requests: Vec<String>| (name.to_owned(), bench.address, requests);
    let cases: Vec<Case> = vec![
        case("bare handler", vec![bare]),
        case("verify, warm", each("/api/gateway/verify", verify, &keys[..1_000])),
        case("charge, spread", each("/api/gateway/charge", charge, keys)),
        case("charge, spread: naive", each("/twin/charge", charge, keys)),
        case("charge, one hot key", each("/api/gateway/charge", charge, &keys[..1])),
        case("charge, one hot key: naive", each("/twin/charge", charge, &keys[..1])),
    ];
    let mut measured = run(client, &cases, options);
    let floor = measured["bare handler"].rate();
    let mut table =
        "| call | rate/s | p50 ms | p99 ms | ÷ bare handler | ÷ naive |\n|---|---:|---:|---:|---:|---:|\n".to_owned();
    for (name, ..) in &cases {
        let ratio = measured.get(&format!("{name}: naive")).map(|twin| ratios(&measured[name].rates, &twin.rates));
        let case = measured.get_mut(name).unwrap();
        let (rate, p50, p99) = (case.rate(), case.percentile(50), case.percentile(99));
        let ratio = ratio.map_or_else(String::new, |ratio| format!("**{ratio:.1}**"));
        table += &format!("| {name} | {rate:.0} | {p50:.2} | {p99:.2} | {:.2} | {ratio} |\n", rate / floor);
    }
    table
}

/// Each call among few and among many tokens of other people.
fn growth(client: &tokio::runtime::Runtime, sites: &[Bench], options: &Options) -> String {
    let mut cases = Vec::new();
    let names: Vec<_> = sites[0].requests().into_keys().collect();
    for name in &names {
        for site in sites {
            cases.push((format!("{name} {}", site.rows), site.address, vec![site.requests()[name].0.clone()]));
        }
    }
    let mut measured = run(client, &cases, options);
    let mut table = "| call | p50 ms at 10,000 | p50 ms at 1,000,000 | ratio |\n|---|---:|---:|---:|\n".to_owned();
    for name in names {
        let [few, many] =
            [10_000, 1_000_000].map(|rows| measured.get_mut(&format!("{name} {rows}")).unwrap().percentile(50));
        table += &format!("| {name} | {few:.2} | {many:.2} | **{:.2}** |\n", many / few);
    }
    table
}

/// Runs all cases in turn, as often as there are rounds; every other round backwards.
fn run(client: &tokio::runtime::Runtime, cases: &[Case], options: &Options) -> BTreeMap<String, Measured> {
    let mut measured: BTreeMap<String, Measured> = BTreeMap::new();
    let warm_up = Duration::from_millis(300);
    let cases: Vec<(&str, SocketAddr, Arc<[String]>)> =
        cases.iter().map(|(name, address, requests)| (name.as_str(), *address, requests.clone().into())).collect();
    for (_, address, requests) in &cases {
        client.block_on(hammer(*address, requests, options.connections, warm_up));
    }
    for round in 0..options.rounds {
        println!("round {} of {}", round + 1, options.rounds);
        let mut turn: Vec<_> = cases.iter().collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for (name, address, requests) in turn {
            let time = Duration::from_secs_f64(options.seconds);
            let started = Instant::now();
            let micros = client.block_on(hammer(*address, requests, options.connections, time));
            let case = measured.entry((*name).to_owned()).or_default();
            case.rates.push(micros.len() as f64 / started.elapsed().as_secs_f64());
            case.micros.extend(micros);
        }
    }
    measured
}

/// Sends the requests in turn over so many connections for so long; returns how long each answer took.
async fn hammer(address: SocketAddr, requests: &Arc<[String]>, connections: usize, time: Duration) -> Vec<u32> {
    let until = Instant::now() + time;
    let spawn = |n| tokio::spawn(one_connection(address, Arc::clone(requests), n, until));
    let tasks: Vec<_> = (0..connections).map(spawn).collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all
}

async fn one_connection(address: SocketAddr, requests: Arc<[String]>, first: usize, until: Instant) -> Vec<u32> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut micros = Vec::new();
    let mut buffer = Vec::with_capacity(16 * 1024);
    // A stride that visits all of them, in an order that neighbours do not share.
    let mut at = first * 7_919;
    while Instant::now() < until {
        let request = &requests[at % requests.len()];
        at += 104_729;
        let sent = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        read_answer(&mut stream, &mut buffer).await;
        micros.push(u32::try_from(sent.elapsed().as_micros()).unwrap());
    }
    micros
}

/// Reads one whole answer, which must be a 200 with a length.
async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) {
    buffer.clear();
    loop {
        assert!(stream.read_buf(buffer).await.unwrap() > 0, "the server hung up");
        let Some(head_end) = buffer.windows(4).position(|part| part == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&buffer[..head_end]).to_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{}", String::from_utf8_lossy(buffer));
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        let whole = head_end + 4 + length.trim().parse::<usize>().unwrap();
        while buffer.len() < whole {
            assert!(stream.read_buf(buffer).await.unwrap() > 0, "the server hung up");
        }
        return;
    }
}

/// The median of the ratios of each round.
fn ratios(of: &[f64], to: &[f64]) -> f64 {
    median(&of.iter().zip(to).map(|(of, to)| of / to).collect::<Vec<_>>())
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Replaces the table between its marks in `docs/performance.md`.
fn write_report(title: &str, table: &str, options: &Options) {
    let Ok(report) = std::fs::read_to_string(REPORT) else {
        return println!("there is no docs/performance.md to write to");
    };
    let (open, close) = (format!("<!-- {title} -->\n"), format!("<!-- end of {title} -->"));
    let Some((before, rest)) = report.split_once(&open) else {
        return println!("docs/performance.md has no place for {title}");
    };
    let (_, after) = rest.split_once(&close).expect("the end of the place");
    let how = format!(
        "{} connections, {} rounds of {} s a case, median of the rounds.",
        options.connections, options.rounds, options.seconds
    );
    std::fs::write(REPORT, format!("{before}{open}{how}\n\n{table}{close}{after}")).unwrap();
    println!("written to docs/performance.md");
}
