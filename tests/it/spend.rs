//! Specification §14: the spend of a range, from daily sums and the charges at its ends.

use keymeter::domain::clock::Clock as _;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::asks;
use crate::harness::{Caller, START, TestApp};

const STAT: &str = "/api/log/self/stat";
const DAY: i64 = 86_400;
const DAYS: i64 = 40;
const ZONES: [&str; 6] =
    ["UTC", "Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kathmandu"];

/// A server in this time zone whose clock is `after` seconds after [`START`].
async fn server(pool: &PgPool, zone: &str, after: i64) -> TestApp {
    let app = TestApp::with(pool.clone(), &[("KEYMETER_USAGE__TIME_ZONE", zone)]).await;
    app.clock.advance(after);
    app
}

async fn stat(caller: &Caller, query: &str) -> i64 {
    caller.get(&format!("{STAT}?{query}")).await.ok()["quota"].as_i64().unwrap()
}

/// The sum of the charges of the range, one by one.
async fn sum(pool: &PgPool, owner: i64, from: i64, to: i64, token: Option<&str>, model: Option<&str>) -> i64 {
    sqlx::query_scalar(
        "select coalesce(sum(c.quota), 0)::bigint from charges c join tokens t on t.id = c.token_id \
         where t.user_id = $1 and c.at between $2 and $3 and ($4::text is null or t.name = $4) \
         and ($5::text is null or c.model = $5)",
    )
    .bind(owner)
    .bind(from)
    .bind(to)
    .bind(token)
    .bind(model)
    .fetch_one(pool)
    .await
    .unwrap()
}

/// Charges of 40 days, made by servers in other time zones than the one that answers, and with a clock that goes back
/// by hours.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_spend_of_any_range_is_the_sum_of_its_charges_in_any_time_zone(pool: PgPool) {
    let mut rng = StdRng::seed_from_u64(9);
    let first = server(&pool, "UTC", 0).await;
    let (ana, ben) = (first.enabled_user("ana").await, first.enabled_user("ben").await);
    let gateway = first.gateway().await;
    let mut keys = Vec::new();
    for (user, name) in [(&ana, "one"), (&ana, "two"), (&ana, "one"), (&ben, "one")] {
        keys.push(user.creates_with_key(json!({ "name": name, "unlimited_quota": true })).await.1);
    }
    for user in [&ana, &ben] {
        first.fills(user, 100_000_000).await;
    }
    let ana = ana.by_access_token().await;
    let mut servers = Vec::new();
    for zone in ZONES {
        servers.push(server(&pool, zone, 0).await);
    }
    let mut times: Vec<i64> = (0..300).map(|_| rng.random_range(0..DAYS * DAY)).collect();
    times.sort_unstable();
    for at in times {
        let server = &servers[rng.random_range(0..ZONES.len())];
        let back = if rng.random_bool(0.2) { rng.random_range(0..20 * 3_600) } else { 0 };
        server.clock.set_ahead(START + at - back - server.clock.now().get());
        let model = ["o1", "gpt-4o"][rng.random_range(0..2_usize)];
        let charge = json!({
            "key": keys[rng.random_range(0..keys.len())], "quota": rng.random_range(1..1_000),
            "model": model,
        });
        asks(&gateway.at(server), "charge", &charge).await.ok();
    }
    let other_days: i64 =
        sqlx::query_scalar("select count(*) from charges where day <> (to_timestamp(at) at time zone 'UTC')::date")
            .fetch_one(&pool)
            .await
            .unwrap();
    assert!(other_days > 30, "{other_days} charges count in another day");
    // A charge of an older version does not name its day, which is that of its time.
    sqlx::query("update charges set day = null where day = (to_timestamp(at) at time zone 'UTC')::date and id % 7 = 0")
        .execute(&pool)
        .await
        .unwrap();
    for server in &servers {
        server.clock.set_ahead(START + DAYS * DAY + 1 - server.clock.now().get());
    }
    for round in 0..2 {
        for n in 0..150 {
            // Days without a name are those of this zone.
            let server = if n % 2 == 0 { &servers[0] } else { &servers[rng.random_range(1..ZONES.len())] };
            let is_utc = n % 2 == 0;
            let from = START + rng.random_range(-2 * DAY..DAYS * DAY);
            let to = from + rng.random_range(0..DAYS * DAY + DAY);
            let token = [None, None, Some("one"), Some("two")][rng.random_range(0..4_usize)];
            let model = [None, None, Some("o1"), Some("no-such-model")][rng.random_range(0..4_usize)];
            let mut query = format!("start_timestamp={from}&end_timestamp={to}");
            query.extend(token.map(|name| format!("&token_name={name}")));
            query.extend(model.map(|name| format!("&model_name={name}")));
            if is_utc || round == 1 {
                let expected = sum(&pool, ana.id, from, to, token, model).await;
                assert_eq!(stat(&ana.at(server), &query).await, expected, "round {round}: {query}");
            }
        }
        for at in [START - DAY, START + 17 * DAY, START + 60 * DAY] {
            let expected = sum(&pool, ana.id, at, i64::MAX, None, None).await;
            assert_eq!(stat(&ana, &format!("start_timestamp={at}")).await, expected);
            let expected = sum(&pool, ana.id, i64::MIN, at, None, None).await;
            assert_eq!(stat(&ana, &format!("end_timestamp={at}")).await, expected);
        }
        // The same after the charges of some days were deleted, a part of them not yet.
        sqlx::query("delete from charges where at < $1 and id % 5 > 0")
            .bind(START + 10 * DAY)
            .execute(&pool)
            .await
            .unwrap();
        let since = "insert into installation (id, key_check, cell_label, created_time, charges_since) values (1, '', '00', 1, $1) \
                     on conflict (id) do update set charges_since = excluded.charges_since";
        sqlx::query(since).bind(START + 10 * DAY).execute(&pool).await.unwrap();
        let naming = "update charges set day = (to_timestamp(at) at time zone 'UTC')::date where day is null";
        sqlx::query(naming).execute(&pool).await.unwrap();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_spend_of_whole_days_does_not_read_their_charges(pool: PgPool) {
    let app = server(&pool, "Europe/Berlin", 0).await;
    let (ana, gateway) = (app.enabled_user("ana").await.by_access_token().await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    for _ in 0..29 {
        asks(&gateway, "charge", &json!({ "key": key, "quota": 10 })).await.ok();
        app.clock.advance(DAY);
    }
    let (from, to) = (START, START + 20 * DAY);
    let queries = [format!("start_timestamp={from}"), format!("start_timestamp={from}&end_timestamp={to}")];
    for query in &queries {
        assert!([290, 210].contains(&stat(&ana, query).await));
    }
    let middle = "delete from charges where at between $1 and $2";
    sqlx::query(middle).bind(from + 3 * DAY).bind(to - 3 * DAY).execute(&pool).await.unwrap();
    assert_eq!([stat(&ana, &queries[0]).await, stat(&ana, &queries[1]).await], [290, 210]);
}
