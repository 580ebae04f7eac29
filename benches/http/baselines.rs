//! The baseline of each call: a handler on the same server that does the minimum for the same rows.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use axum::extract::{FromRef, Query, State};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::{Json, Router};
use keymeter::api::middleware;
use keymeter::api::state::AppState;
use keymeter::domain::key::ApiKey;
use keymeter::service::vault::{MasterKey, Vault};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, PgPool, Row as _};
use tokio::sync::{mpsc, oneshot};
use tower::util::MapRequestLayer;

use crate::installation::MASTER_KEY;

/// What the baselines share.
#[derive(Clone)]
struct Shared {
    pool: PgPool,
    audit: mpsc::Sender<AuditLine>,
}

impl FromRef<Shared> for PgPool {
    fn from_ref(shared: &Shared) -> Self {
        shared.pool.clone()
    }
}

/// One route a baseline. That of `verify` is behind the layers of the service.
pub fn routes(pool: PgPool, app: Arc<AppState>) -> Router {
    let (audit, lines) = mpsc::channel(1_024);
    tokio::spawn(write_audit(pool.clone(), lines));
    let layers = (
        from_fn_with_state(app, middleware::every_request),
        MapRequestLayer::new(middleware::observe::note_route),
        middleware::compression::layer(),
    );
    Router::new()
        .route("/baseline/verify", post(verify).layer(layers))
        .route("/baseline/nothing", get(nothing))
        .route("/baseline/list", get(list))
        .route("/baseline/search", get(search))
        .route("/baseline/get", get(one))
        .route("/baseline/usage", get(usage))
        .route("/baseline/daily", get(daily))
        .route("/baseline/charge", post(charge))
        .route("/baseline/reserve", post(reserve))
        .route("/baseline/settle", post(settle))
        .with_state(Shared { pool, audit })
}

async fn nothing() -> Json<Value> {
    Json(json!({ "success": true, "message": "" }))
}

type TokenRow =
    (i64, i64, String, String, String, i64, i64, Option<i64>, i64, bool, i64, bool, String, String, String, bool);

const COLUMNS: &str = "id, user_id, key_hint, note, name, created_time, accessed_time, expires_at, remain_quota, \
                       unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, group_name, \
                       cross_group_retry";

/// The tokens of the user with this id.
async fn list(State(pool): State<PgPool>, which: Query<Which>) -> Json<Vec<TokenRow>> {
    let sql = format!(
        "select {COLUMNS} from tokens where user_id = $1 and deleted_time is null order by id desc limit 10 offset 0"
    );
    Json(sqlx::query_as(AssertSqlSafe(sql)).bind(which.id).fetch_all(&pool).await.unwrap())
}

async fn search(State(pool): State<PgPool>, which: Query<Which>) -> Json<Vec<TokenRow>> {
    let sql = format!(
        "select {COLUMNS} from tokens where user_id = $1 and deleted_time is null and name_folded like '%token 1%' \
         order by id desc limit 10 offset 0"
    );
    Json(sqlx::query_as(AssertSqlSafe(sql)).bind(which.id).fetch_all(&pool).await.unwrap())
}

#[derive(Deserialize)]
struct Which {
    id: i64,
}

async fn one(State(Shared { pool, audit }): State<Shared>, which: Query<Which>) -> Json<TokenRow> {
    let sql = format!("select {COLUMNS} from tokens where user_id = 1 and id = $1 and deleted_time is null");
    let row = sqlx::query_as(AssertSqlSafe(sql)).bind(which.id).fetch_one(&pool).await.unwrap();
    let (written, is_written) = oneshot::channel();
    audit.send(AuditLine { token: which.id, written }).await.unwrap();
    is_written.await.unwrap();
    Json(row)
}

/// A line of the audit log, and whom to tell that it is on disk.
struct AuditLine {
    token: i64,
    written: oneshot::Sender<()>,
}

/// Writes the lines that wait together in one statement.
async fn write_audit(pool: PgPool, mut lines: mpsc::Receiver<AuditLine>) {
    let mut batch = Vec::new();
    while lines.recv_many(&mut batch, 256).await > 0 {
        let tokens: Vec<i64> = batch.iter().map(|line: &AuditLine| line.token).collect();
        sqlx::query(
            "insert into audit_log (at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, request_id, \
             details, changes) select extract(epoch from now())::bigint, 1, 'root', 'token.key_revealed', 'token', id, 1, \
             '127.0.0.1', '0123456789abcdef0123456789abcdef', '{}', '{}' from unnest($1::bigint[]) as id",
        )
        .bind(&tokens)
        .execute(&pool)
        .await
        .unwrap();
        for line in batch.drain(..) {
            let _ = line.written.send(());
        }
    }
}

/// The fields of a body of `verify`.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only parsed")]
struct VerifyBody {
    key: Option<String>,
    model: Option<String>,
    ip: Option<String>,
    quota: Option<i64>,
    usd: Option<String>,
    prompt_tokens: Option<i64>,
    completion_tokens: Option<i64>,
}

/// Parses the body that `verify` takes, and answers as many bytes.
async fn verify(Json(_): Json<VerifyBody>) -> Json<Value> {
    Json(json!({ "success": true, "message": "", "data": {
        "valid": true, "token_id": 10_001, "user_id": 1_001, "name": "token 10001", "group": "default",
        "cross_group_retry": false, "unlimited_quota": false, "remain_quota": 100_000_000_000_000_i64,
        "usable_quota": 100_000_000_000_000_i64, "expires_at": 0,
    } }))
}

async fn usage(State(pool): State<PgPool>, which: Query<Which>) -> Json<Value> {
    let sql = "select t.name, t.remain_quota, t.used_quota, u.quota from tokens t join users u on u.id = t.user_id \
               where t.id = $1 and t.deleted_time is null";
    let row: (String, i64, i64, i64) = sqlx::query_as(sql).bind(which.id).fetch_one(&pool).await.unwrap();
    Json(json!({ "name": row.0, "remain": row.1, "used": row.2, "wallet": row.3 }))
}

async fn daily(State(pool): State<PgPool>, which: Query<Which>) -> Json<Vec<(String, i64, i64)>> {
    let sql = "select day::text, sum(quota)::bigint, sum(requests)::bigint from usage_daily \
               where token_id = $1 and day > current_date - 7 group by day order by day";
    Json(sqlx::query_as(sql).bind(which.id).fetch_all(&pool).await.unwrap())
}

/// The statements of a transaction that does for one request what a batch of the ledger does for many. `pgbench` runs
/// them too, so parameters have names: `:token`, `:user`, `:quota`, `:request` (its id) and `:reservation`.
pub struct Transaction(&'static [&'static str]);

pub const CHARGE: Transaction = Transaction(&[
    LOCK_WALLET,
    READ_TOKEN,
    READ_RECORD,
    CHARGE_WALLET,
    CHARGE_TOKEN,
    ADD_USAGE,
    ADD_CHARGE,
    ADD_RECORD,
]);
const RESERVE: Transaction =
    Transaction(&[LOCK_WALLET, READ_TOKEN, READ_RECORD, HOLD_IN_WALLET, HOLD_IN_TOKEN, ADD_RESERVATION, ADD_RECORD]);
const SETTLE: Transaction = Transaction(&[
    LOCK_WALLET,
    READ_RESERVATION,
    READ_TOKEN,
    SETTLE_WALLET,
    SETTLE_TOKEN,
    ADD_USAGE,
    ADD_CHARGE,
    END_RESERVATION,
]);

/// Updates a wallet or a token, and counts an amount in the present day, week and month.
macro_rules! update_and_count {
    ($table:literal, $set:literal, $id:literal) => {
        concat!(
            "update ",
            $table,
            " set ",
            $set,
            ", \
             day_used = case when period_day = today then day_used else 0 end + :quota, \
             week_used = case when date_trunc('week', period_day) = date_trunc('week', today) then week_used else 0 end \
               + :quota, \
             month_used = case when date_trunc('month', period_day) = date_trunc('month', today) then month_used else 0 end \
               + :quota, \
             period_day = today from (select cast(now() at time zone 'utc' as date) as today) as d where id = ",
            $id
        )
    };
}

const LOCK_WALLET: &str = "select quota from users where id = :user for no key update";
const READ_TOKEN: &str = "select remain_quota from tokens where id = :token";
const READ_RECORD: &str = "select charged from idempotency_records where gateway_id = 1 and request_id = :request";
const CHARGE_WALLET: &str = update_and_count!(
    "users",
    "quota = quota - :quota, used_quota = used_quota + :quota, request_count = request_count + 1",
    ":user"
);
const CHARGE_TOKEN: &str =
    update_and_count!("tokens", "remain_quota = remain_quota - :quota, used_quota = used_quota + :quota", ":token");
const ADD_USAGE: &str = "insert into usage_daily as d \
    (token_id, day, model, user_id, quota, requests, prompt_tokens, completion_tokens) \
    values (:token, cast(now() at time zone 'utc' as date), '', :user, :quota, 1, 0, 0) \
    on conflict (token_id, day, model) do update set quota = d.quota + excluded.quota, requests = d.requests + 1";
const ADD_CHARGE: &str = "insert into charges \
    (at, day, token_id, user_id, model, request_id, quota, shortfall, prompt_tokens, completion_tokens) \
    values (extract(epoch from now()), cast(now() at time zone 'utc' as date), :token, :user, '', :request, :quota, 0, 0, 0)";
const ADD_RECORD: &str = "insert into idempotency_records \
    (gateway_id, request_id, user_id, created_time, request_hash, charged, remain_quota) \
    values (1, :request, :user, extract(epoch from now()), sha256(convert_to(:request, 'UTF8')), :quota, 0)";
const HOLD_IN_WALLET: &str = "update users \
    set quota = quota - :quota, used_quota = used_quota + :quota, held = held + :quota where id = :user";
const HOLD_IN_TOKEN: &str = "update tokens \
    set remain_quota = remain_quota - :quota, used_quota = used_quota + :quota, held = held + :quota, \
    open_reservations = open_reservations + 1 \
    where id = :token";
const ADD_RESERVATION: &str = "insert into reservations \
    (id, token_id, user_id, model, request_id, held, from_remain, created_time, expires_at, state) \
    values (:reservation, :token, :user, '', :request, :quota, true, extract(epoch from now()), \
    extract(epoch from now()) + 900, 'open')";
const READ_RESERVATION: &str = "select held from reservations where id = :reservation and state = 'open'";
const SETTLE_WALLET: &str =
    update_and_count!("users", "held = held - :quota, request_count = request_count + 1", ":user");
const SETTLE_TOKEN: &str =
    update_and_count!("tokens", "held = held - :quota, open_reservations = open_reservations - 1", ":token");
const END_RESERVATION: &str = "update reservations \
    set state = 'settled', requested = :quota, charged = :quota, shortfall = 0, was_expired = false, \
    ended_time = extract(epoch from now()) where id = :reservation";

const PARAMETERS: [&str; 5] = ["token", "user", "quota", "request", "reservation"];

impl Transaction {
    /// A script of `pgbench` that charges one of the tokens between the variables `first` and `last`.
    pub fn script(&self) -> String {
        let statements = self.0.join(";\n");
        format!(
            "\\set n random(:first, :last)\n\\set quota 1\n\\set request random(1, 9000000000000000000)\nbegin;\n\
             select id as token, user_id as user from tokens where id = :n \\gset\n{statements};\ncommit;\n"
        )
    }

    /// Runs it.
    async fn run(&self, pool: &PgPool, [token, user, quota, reservation]: [i64; 4], request: Option<&str>) -> i64 {
        let mut tx = pool.begin().await.unwrap();
        let mut remain = 0;
        for text in self.0 {
            if request.is_none() && [READ_RECORD, ADD_RECORD].contains(text) {
                continue;
            }
            let (mut sql, mut arguments) = (String::new(), PgArguments::default());
            // A colon begins a parameter.
            for (n, part) in text.split(':').enumerate() {
                let name = PARAMETERS.into_iter().find(|name| n > 0 && part.starts_with(name));
                match name {
                    Some("token") => arguments.add(token),
                    Some("user") => arguments.add(user),
                    Some("quota") => arguments.add(quota),
                    Some("request") => arguments.add(request),
                    Some(_) => arguments.add(reservation),
                    None => Ok(()),
                }
                .unwrap();
                if let Some(name) = name {
                    write!(sql, "${n}").unwrap();
                    sql.push_str(&part[name.len()..]);
                } else {
                    sql.push_str(part);
                }
            }
            let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
            if *text == READ_TOKEN {
                remain = query.fetch_one(&mut *tx).await.unwrap().get(0);
            } else {
                query.execute(&mut *tx).await.unwrap();
            }
        }
        tx.commit().await.unwrap();
        remain
    }
}

static VAULT: OnceLock<Vault> = OnceLock::new();

/// The id and the user of the token of a key.
async fn find_token(pool: &PgPool, body: &Value) -> (i64, i64) {
    let vault = VAULT.get_or_init(|| Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap()));
    let digest = vault.digest(&ApiKey::parse(body["key"].as_str().unwrap()).unwrap());
    sqlx::query_as("select id, user_id from tokens where key_digest = $1 and deleted_time is null")
        .bind(digest.as_bytes())
        .fetch_one(pool)
        .await
        .unwrap()
}

async fn charge(State(pool): State<PgPool>, Json(body): Json<Value>) -> Json<Value> {
    let (token, user) = find_token(&pool, &body).await;
    let quota = body["quota"].as_i64().unwrap();
    let remain = CHARGE.run(&pool, [token, user, quota, 0], body["request_id"].as_str()).await;
    Json(json!({ "success": true, "data": { "charged": quota, "remain_quota": remain - quota } }))
}

async fn reserve(State(pool): State<PgPool>, Json(body): Json<Value>) -> Json<Value> {
    let (token, user) = find_token(&pool, &body).await;
    let (quota, id) = (body["quota"].as_i64().unwrap(), rand::random::<u64>().cast_signed() >> 1);
    let remain = RESERVE.run(&pool, [token, user, quota, id], body["request_id"].as_str()).await;
    Json(json!({ "success": true, "data": { "reservation_id": id.to_string(), "remain_quota": remain - quota } }))
}

async fn settle(State(pool): State<PgPool>, Json(body): Json<Value>) -> Json<Value> {
    let id: i64 = body["reservation_id"].as_str().unwrap().parse().unwrap();
    let (token, user, held): (i64, i64, i64) =
        sqlx::query_as("select token_id, user_id, held from reservations where id = $1")
            .bind(id)
            .fetch_one(&pool)
            .await
            .unwrap();
    // The whole hold, so that one amount serves all statements.
    let remain = SETTLE.run(&pool, [token, user, held, id], None).await;
    Json(json!({ "success": true, "data": { "charged": held, "remain_quota": remain } }))
}
