//! The baseline of each call: a handler on the same server that does the minimum for the same rows.

use std::sync::OnceLock;

use axum::extract::{Query, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use keymeter::domain::key::ApiKey;
use keymeter::service::vault::{MasterKey, Vault};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};

use crate::installation::MASTER_KEY;

/// One route a baseline.
pub fn routes(pool: PgPool) -> Router {
    Router::new()
        .route("/baseline/nothing", get(nothing))
        .route("/baseline/list", get(list))
        .route("/baseline/search", get(search))
        .route("/baseline/get", get(one))
        .route("/baseline/usage", get(usage))
        .route("/baseline/daily", get(daily))
        .route("/baseline/charge", post(charge))
        .with_state(pool)
}

async fn nothing() -> Json<Value> {
    Json(json!({ "success": true, "message": "" }))
}

type Row =
    (i64, i64, String, String, String, i64, i64, Option<i64>, i64, bool, i64, bool, String, String, String, bool);

const COLUMNS: &str = "id, user_id, key_hint, note, name, created_time, accessed_time, expires_at, remain_quota, \
                       unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, group_name, \
                       cross_group_retry";

async fn list(State(pool): State<PgPool>) -> Json<Vec<Row>> {
    let sql = format!(
        "select {COLUMNS} from tokens where user_id = 1 and deleted_time is null order by id desc limit 10 offset 0"
    );
    Json(sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&pool).await.unwrap())
}

async fn search(State(pool): State<PgPool>) -> Json<Vec<Row>> {
    let sql = format!(
        "select {COLUMNS} from tokens where user_id = 1 and deleted_time is null and name_folded like '%token 1%' \
         order by id desc limit 10 offset 0"
    );
    Json(sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&pool).await.unwrap())
}

#[derive(Deserialize)]
struct Which {
    id: i64,
}

async fn one(State(pool): State<PgPool>, which: Query<Which>) -> Json<Row> {
    let sql = format!("select {COLUMNS} from tokens where user_id = 1 and id = $1 and deleted_time is null");
    Json(sqlx::query_as(AssertSqlSafe(sql)).bind(which.id).fetch_one(&pool).await.unwrap())
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

static VAULT: OnceLock<Vault> = OnceLock::new();

/// The naive way to charge: one transaction a request, with the same reads and writes.
async fn charge(State(pool): State<PgPool>, Json(body): Json<Value>) -> Json<Value> {
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
    let account = "select remain_quota from tokens where id = $1";
    let remain: i64 = sqlx::query_scalar(account).bind(token).fetch_one(&mut *tx).await.unwrap();
    for (sql, id) in [
        (
            "update users u set quota = quota - $2, used_quota = used_quota + $2, request_count = request_count + 1, \
             day_used = case when period_day = today then day_used else 0 end + $2, \
             week_used = case when date_trunc('week', period_day) = date_trunc('week', today) then week_used else 0 end + $2, \
             month_used = case when date_trunc('month', period_day) = date_trunc('month', today) then month_used else 0 end \
               + $2, \
             period_day = today from (select (now() at time zone 'utc')::date as today) as d where id = $1",
            user,
        ),
        (
            "update tokens t set remain_quota = remain_quota - $2, used_quota = used_quota + $2, \
             day_used = case when period_day = today then day_used else 0 end + $2, \
             week_used = case when date_trunc('week', period_day) = date_trunc('week', today) then week_used else 0 end + $2, \
             month_used = case when date_trunc('month', period_day) = date_trunc('month', today) then month_used else 0 end \
               + $2, \
             period_day = today from (select (now() at time zone 'utc')::date as today) as d where id = $1",
            token,
        ),
        (
            "insert into usage_daily as d \
             select id, (now() at time zone 'utc')::date, '', user_id, $2, 1, 0, 0 from tokens where id = $1 \
             on conflict (token_id, day, model) \
             do update set quota = d.quota + excluded.quota, requests = d.requests + 1",
            token,
        ),
        (
            "insert into charges (at, day, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
             select extract(epoch from now())::bigint, (now() at time zone 'utc')::date, id, user_id, '', $2, 0, 0, 0 \
             from tokens where id = $1",
            token,
        ),
    ] {
        sqlx::query(sql).bind(id).bind(quota).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    Json(json!({ "success": true, "data": { "charged": quota, "remain_quota": remain - quota } }))
}
