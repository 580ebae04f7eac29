//! The index of ended days by the ids of requests: built one day at a time while charges go on, again after a server
//! was killed, and dropped with its partition.

use keymeter::domain::clock::Clock;
use keymeter::domain::request_search::windows_of;
use keymeter::domain::scope::Scope;
use keymeter::domain::time::UnixTime;
use keymeter::service::jobs::{Finished, index_one_day};
use keymeter::storage::{Db, StorageError, request_lookup};
use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::wait::eventually;
use crate::harness::{Caller, START, TestApp};
use crate::jobs::jobs_on;

const DAY: i64 = 86_400;

/// A service with partitions, a key that was charged on 2026-03-10 and on the next two days, and a gateway. It is noon
/// of the third day.
async fn charged_for_three_days(pool: PgPool) -> (TestApp, String, Caller) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    jobs_on(&app.pool, app.clock.clone(), 90).run_as_of(app.clock.now()).await.unwrap();
    for day in 0..3 {
        app.clock.advance(if day == 0 { 0 } else { DAY });
        let charge = json!({ "key": key, "quota": 1, "request_id": format!("day-{day}") });
        asks(&gateway, "charge", &charge).await.ok();
    }
    (app, key, gateway)
}

/// One round of the job.
async fn round(app: &TestApp) -> Result<Finished, StorageError> {
    index_one_day(&Db::new(app.pool.clone()), app.clock.now(), 90).await
}

/// The days whose requests have an index, in the form of 0310, and whether it is whole.
async fn indexes(app: &TestApp) -> Vec<(String, bool)> {
    let sql = "select substr(relname, 13, 4), indisvalid from pg_class join pg_index on indexrelid = oid \
               where relname ~ '^charges_2026[0-9]{4}_by_request$' order by relname";
    sqlx::query_as(sql).fetch_all(&app.pool).await.unwrap()
}

fn whole<const N: usize>(days: [&str; N]) -> Vec<(String, bool)> {
    days.map(|day| (day.to_owned(), true)).into()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn ended_days_are_indexed_one_by_one_the_newest_first(pool: PgPool) {
    let (app, ..) = charged_for_three_days(pool).await;
    for expected in [whole(["0311"]), whole(["0310", "0311"]), whole(["0309", "0310", "0311"])] {
        assert_eq!(round(&app).await.unwrap(), Finished::Later);
        assert_eq!(indexes(&app).await, expected);
    }
    assert_eq!(round(&app).await.unwrap(), Finished::Yes);
    // A day ends an hour late: no charge comes later.
    app.clock.advance(DAY / 2 + 3_599);
    assert_eq!(round(&app).await.unwrap(), Finished::Yes);
    app.clock.advance(1);
    assert_eq!(round(&app).await.unwrap(), Finished::Later);
    assert_eq!(indexes(&app).await.len(), 4);

    let mut conn = app.pool.acquire().await.unwrap();
    let days = request_lookup::list_indexed_days(&mut conn).await.unwrap();
    let midnight = START - START % DAY;
    assert_eq!(days, [-1, 0, 1, 2].map(|day| UnixTime::new(midnight + day * DAY)));
    let windows = windows_of(&days);
    for day in 0..3 {
        let found = request_lookup::list_indexed(&mut conn, Scope::Everyone, &windows, &format!("day-{day}")).await;
        let times: Vec<_> = found.unwrap().iter().map(|found| found.position.at).collect();
        assert_eq!(times, [UnixTime::new(START + day * DAY)]);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_index_goes_with_its_partition_and_days_that_are_dropped_next_get_none(pool: PgPool) {
    let (app, ..) = charged_for_three_days(pool).await;
    let index = async |retention_days| {
        let db = Db::new(app.pool.clone());
        while index_one_day(&db, app.clock.now(), retention_days).await.unwrap() == Finished::Later {}
    };
    index(1).await;
    assert_eq!(indexes(&app).await, whole(["0311"]));
    index(90).await;
    assert_eq!(indexes(&app).await, whole(["0309", "0310", "0311"]));
    jobs_on(&app.pool, app.clock.clone(), 1).run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(indexes(&app).await, whole(["0311"]));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn charges_go_on_while_an_index_is_built_and_one_that_was_cut_off_is_built_again(pool: PgPool) {
    let (app, key, gateway) = charged_for_three_days(pool).await;
    let late = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
                values ($1, 1, 1, '', 0, 0, 0, 0)";
    // The build waits for a transaction that has written to the day.
    let mut writer = app.pool.begin().await.unwrap();
    sqlx::query(late).bind(START + DAY).execute(&mut *writer).await.unwrap();
    let (db, now) = (Db::new(app.pool.clone()), app.clock.now());
    let building = tokio::spawn(async move { index_one_day(&db, now, 90).await });
    let builders = "select count(*) from pg_stat_activity where datname = current_database() \
                    and query like 'create index concurrently charges_20260311%' and wait_event_type = 'Lock'";
    let count = async |sql: &'static str| -> i64 { sqlx::query_scalar(sql).fetch_one(&app.pool).await.unwrap() };
    eventually("the build waits", async || count(builders).await == 1).await;
    for _ in 0..20 {
        asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    }
    sqlx::query(late).bind(START + DAY).execute(&app.pool).await.unwrap();
    let waiting = "select count(*) from pg_locks where not granted and locktype = 'relation' \
                   and database = (select oid from pg_database where datname = current_database())";
    assert_eq!(count(waiting).await, 0, "nothing waits for a table");
    // Its connection has the lock of the job: another server does nothing.
    assert_eq!(round(&app).await.unwrap(), Finished::Yes);

    // As if its server and PostgreSQL had been killed.
    let kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() \
                and query like 'create index concurrently charges_20260311%'";
    assert_eq!(count(kill).await, 1);
    building.await.unwrap().unwrap_err();
    assert_eq!(indexes(&app).await, [("0311".to_owned(), false)]);
    let mut conn = app.pool.acquire().await.unwrap();
    assert_eq!(request_lookup::list_indexed_days(&mut conn).await.unwrap(), [], "half an index finds nothing");
    writer.rollback().await.unwrap();
    assert_eq!(round(&app).await.unwrap(), Finished::Later);
    assert_eq!(indexes(&app).await, whole(["0311"]));
}
