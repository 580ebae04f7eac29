//! Specification §13.6: usage by the hour, and by the group of tokens.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};
use crate::usage_reports::{EVERYONE, USAGE, amounts, charged, example, with};

/// 2026-03-09 at midnight in UTC.
const MIDNIGHT: i64 = 1_773_014_400;
const HOUR: i64 = 3_600;

/// The number of rows, and the place, the hour and the requests of those with any.
async fn hours(caller: &Caller, path: &str) -> (usize, Vec<(usize, i64, i64)>) {
    let report = caller.get(path).await.ok();
    let rows = report["rows"].as_array().unwrap();
    let number = |row: &Value, name: &str| row[name].as_i64().unwrap();
    let used = rows.iter().enumerate().map(|(n, row)| (n, number(row, "hour"), number(row, "requests")));
    (rows.len(), used.filter(|(.., requests)| *requests > 0).collect())
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_by_hour_has_every_hour_of_the_last_two_days(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, [one, _, bens]) = example(&app).await;
    for at in [MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + HOUR - 1, MIDNIGHT + HOUR, START - 1, START] {
        charged(&app, &ana, one, at).await;
    }
    charged(&app, &ben, bens, START).await;
    let expected = [(0, MIDNIGHT, 2), (1, MIDNIGHT + HOUR, 1), (35, START - HOUR, 1), (36, START, 1)];
    assert_eq!(hours(&ana, &format!("{USAGE}?group_by=hour")).await, (48, expected.to_vec()));
    let one_day = hours(&ana, &format!("{USAGE}?group_by=hour&from=2026-03-10&token_id={one}")).await;
    assert_eq!(one_day, (24, vec![(11, START - HOUR, 1), (12, START, 1)]));
    let admin = app.admin("carla").await;
    let all_users = hours(&admin, &format!("{EVERYONE}?group_by=hour&from=2026-03-10")).await;
    assert_eq!(all_users, (24, vec![(11, START - HOUR, 1), (12, START, 2)]));

    // A clock of Kathmandu is 5 hours and 45 minutes ahead.
    let path = format!("{USAGE}?group_by=hour&from=2026-03-09&to=2026-03-09&tz=Asia/Kathmandu");
    let first = MIDNIGHT - 20_700;
    let expected = vec![(5, first + 5 * HOUR, 2), (6, first + 6 * HOUR, 2)];
    assert_eq!(hours(&ana, &path).await, (24, expected));

    // In Berlin, 2026-10-25 has 02:30 twice.
    for at in [1_792_888_200, 1_792_888_200 + HOUR] {
        charged(&app, &ana, one, at).await;
    }
    let path = format!("{USAGE}?group_by=hour&from=2026-10-25&to=2026-10-25&tz=Europe/Berlin");
    assert_eq!(hours(&ana, &path).await, (25, vec![(2, 1_792_886_400, 1), (3, 1_792_886_400 + HOUR, 1)]));

    let split = ana.get(&format!("{USAGE}?group_by=model,day,hour&from=2026-03-10&format=csv")).await;
    let lines = [
        "hour,date,model,requests,prompt_tokens,completion_tokens,quota,usd".to_owned(),
        format!("{},2026-03-10,o1,1,10,2,1,0.000002", START - HOUR),
        format!("{START},2026-03-10,o1,1,10,2,1,0.000002"),
        String::new(),
    ];
    assert_eq!(split.text.split("\r\n").collect::<Vec<_>>(), lines);
    let by_gateway = admin.get(&format!("{EVERYONE}?group_by=hour,gateway")).await.ok();
    assert_eq!(by_gateway["total"]["requests"], 6);

    let too_long = "by `hour` a report may have at most 2 days";
    for query in ["from=2026-03-08", "from=2026-03-01&to=2026-03-03&tz=UTC"] {
        let answer = ana.get(&format!("{USAGE}?group_by=hour&{query}")).await;
        answer.refuses_saying(400, "range_too_large", too_long);
    }
    let since = "insert into installation (id, key_check, cell_label, created_time, charges_since) values (1, '', '00', 1, $1) \
                 on conflict (id) do update set charges_since = excluded.charges_since";
    sqlx::query(since).bind(MIDNIGHT + 1).execute(&app.pool).await.unwrap();
    let kept =
        "single charges are kept from 2026-03-10 on, so with `tz` or by `hour` a report begins there at the earliest";
    ana.get(&format!("{USAGE}?group_by=hour")).await.refuses_saying(400, "range_too_large", kept);
    ana.get(&format!("{USAGE}?group_by=hour&from=2026-03-10")).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_by_group_is_that_of_the_present_group_of_a_token_or_else_of_its_owner(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, [one, two, bens]) = example(&app).await;
    let admin = app.admin("carla").await;
    let row = |group: &str, amounts: Value| with(amounts, json!({ "group": group }));
    let everyone = async || admin.get(&format!("{EVERYONE}?group_by=group&from=2026-03-08")).await.ok()["rows"].clone();
    assert_eq!(everyone().await, json!([row("default", amounts(1_750_004, json!(3.500_008), 5))]));

    for (change, id) in [
        ("update tokens set group_name = 'auto' where id = $1", one),
        ("update users set group_name = 'vip' where id = $1", ben.id),
    ] {
        sqlx::query(change).bind(id).execute(&app.pool).await.unwrap();
    }
    let deleted = row("default", amounts(1_000_000, json!(2), 1));
    let auto = row("auto", amounts(750_001, json!(1.500_002), 3));
    let vip = row("vip", amounts(3, json!(0.000_006), 1));
    assert_eq!(everyone().await, json!([deleted, auto, vip]));
    let own = async |query: &str| ana.get(&format!("{USAGE}?from=2026-03-08&{query}")).await.ok()["rows"].clone();
    assert_eq!(own("group_by=group").await, json!([deleted, auto]));
    assert_eq!(own(&format!("group_by=group&token_id={one}")).await, json!([auto]));

    let split = admin.get(&format!("{EVERYONE}?group_by=model,group,token&from=2026-03-10")).await.ok();
    assert_eq!(split["group_by"], json!(["user", "token", "group", "model"]));
    let of = |model: &str, sums: Value| {
        with(
            sums,
            json!({
                "user_id": ana.id, "username": "ana", "display_name": "ana", "email": "", "token_id": one,
                "token_name": "one", "group": "auto", "model": model,
            }),
        )
    };
    let expected = json!([of("o1", amounts(500_000, json!(1), 1)), of("o2", amounts(250_000, json!(0.5), 1))]);
    assert_eq!(split["rows"], expected);

    let compared = own("group_by=group&to=2026-03-08&compare_from=2026-03-10&compare_to=2026-03-10").await;
    let quotas = |row: &Value| json!([row["group"], row["quota"], row["before"]["quota"]]);
    let quotas: Vec<_> = compared.as_array().unwrap().iter().map(quotas).collect();
    assert_eq!(json!(quotas), json!([["default", 1_000_000, 0], ["auto", 1, 750_000]]));

    // From single charges.
    for (owner, token) in [(&ana, one), (&ana, one), (&ana, two), (&ben, bens)] {
        charged(&app, owner, token, START).await;
    }
    for query in ["tz=UTC", "tz=Asia/Tokyo"] {
        let report = admin.get(&format!("{EVERYONE}?group_by=group&{query}")).await.ok();
        let requests = |row: &Value| json!([row["group"], row["requests"]]);
        let requests: Vec<_> = report["rows"].as_array().unwrap().iter().map(requests).collect();
        assert_eq!(json!(requests), json!([["auto", 2], ["default", 1], ["vip", 1]]), "{query}");
    }
    let by_hour = admin.get(&format!("{EVERYONE}?group_by=hour,group&from=2026-03-10&user_id={}", ana.id)).await.ok();
    let expected = [("auto", 2), ("default", 1)].map(|(group, requests)| {
        let sums = amounts(requests, json!(if requests == 2 { 0.000_004 } else { 0.000_002 }), requests);
        with(sums, json!({ "hour": START, "group": group }))
    });
    assert_eq!(by_hour["rows"], json!(expected));
}
