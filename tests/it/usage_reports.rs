//! Specification §13.6: usage over longer ranges, grouped.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::asks;
use crate::harness::{Caller, START, TestApp};

pub const USAGE: &str = "/api/usage";
pub const EVERYONE: &str = "/api/admin/usage";

/// Records usage of a token.
pub async fn uses(app: &TestApp, owner: &Caller, token: i64, day: &str, model: &str, quota: i64) {
    let insert = "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, \
                  completion_tokens) values ($1, $2, $3::text::date, $4, $5, 1, 10, 2)";
    let insert = sqlx::query(insert).bind(token).bind(owner.id).bind(day).bind(model).bind(quota);
    insert.execute(&app.pool).await.unwrap();
}

pub fn amounts(quota: i64, usd: Value, requests: i64) -> Value {
    json!({
        "quota": quota, "usd": usd, "requests": requests, "prompt_tokens": 10 * requests,
        "completion_tokens": 2 * requests,
    })
}

/// `row` with the members of `more`.
pub fn with(mut row: Value, more: Value) -> Value {
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

/// Two tokens of Ana, one of them deleted, and one of Ben, with usage on three days.
pub async fn example(app: &TestApp) -> (Caller, Caller, [i64; 3]) {
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let one = ana.creates(json!({ "name": "one" })).await;
    let two = ana.creates(json!({ "name": "two" })).await;
    let bens = ben.creates(json!({ "name": "ben's" })).await;
    uses(app, &ana, one, "2026-03-10", "o1", 500_000).await;
    uses(app, &ana, one, "2026-03-10", "o2", 250_000).await;
    uses(app, &ana, one, "2026-03-08", "o1", 1).await;
    uses(app, &ana, two, "2026-03-08", "o1", 1_000_000).await;
    uses(app, &ana, two, "2025-06-01", "o1", 7).await;
    uses(app, &ben, bens, "2026-03-09", "o1", 3).await;
    ana.delete(&format!("/api/token/{two}")).await.ok();
    (ana, ben, [one, two, bens])
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_by_day_has_every_day_and_a_total(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ..) = example(&app).await;
    let report = ana.get(&format!("{USAGE}?from=2026-03-08")).await.ok();
    let expected = json!({
        "from": "2026-03-08", "to": "2026-03-10", "time_zone": "UTC", "group_by": ["day"],
        "total": amounts(1_750_001, json!(3.500_002), 4),
        "rows": [
            with(amounts(1_000_001, json!(2.000_002), 2), json!({ "date": "2026-03-08" })),
            with(amounts(0, json!(0), 0), json!({ "date": "2026-03-09" })),
            with(amounts(750_000, json!(1.5), 2), json!({ "date": "2026-03-10" })),
        ],
    });
    assert_eq!(report, expected);
    for query in
        ["", "?from=&to=&group_by=&token_id=&format=", "?from=2026-02-09&to=2026-03-10&group_by=day&format=json"]
    {
        let report = ana.get(&format!("{USAGE}{query}")).await.ok();
        assert_eq!((&report["from"], &report["to"]), (&json!("2026-02-09"), &json!("2026-03-10")), "{query}");
        assert_eq!(
            (report["rows"].as_array().unwrap().len(), &report["total"]["requests"]),
            (30, &json!(4)),
            "{query}"
        );
    }
    let year = ana.get(&format!("{USAGE}?from=2025-03-10&to=2026-03-10")).await.ok();
    assert_eq!((year["rows"].as_array().unwrap().len(), &year["total"]["requests"]), (366, &json!(5)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_by_token_is_a_ranking_that_includes_deleted_tokens(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, [one, two, bens]) = example(&app).await;
    let report = ana.get(&format!("{USAGE}?group_by=token")).await.ok();
    let row = |id: i64, name: &str, amounts: Value| with(amounts, json!({ "token_id": id, "token_name": name }));
    let ranking = json!([
        row(two, "two", amounts(1_000_000, json!(2), 1)),
        row(one, "one", amounts(750_001, json!(1.500_002), 3)),
    ]);
    assert_eq!((&report["rows"], &report["group_by"]), (&ranking, &json!(["token"])));
    let both = ana.get(&format!("{USAGE}?group_by=token,day&from=2026-03-08")).await.ok();
    let of = |day: &str, row: Value| with(row, json!({ "date": day }));
    let rows = json!([
        of("2026-03-08", row(one, "one", amounts(1, json!(0.000_002), 1))),
        of("2026-03-08", row(two, "two", amounts(1_000_000, json!(2), 1))),
        of("2026-03-10", row(one, "one", amounts(750_000, json!(1.5), 2))),
    ]);
    assert_eq!((&both["rows"], &both["group_by"]), (&rows, &json!(["day", "token"])));
    assert_eq!(both["total"], amounts(1_750_001, json!(3.500_002), 4));
    for token in [one, two] {
        let of_one = ana.get(&format!("{USAGE}?group_by=token&token_id={token}")).await.ok();
        assert_eq!(of_one["rows"].as_array().unwrap().len(), 1);
        assert_eq!(of_one["rows"][0]["token_id"], token);
    }
    for (who, token) in [(&ana, bens), (&ben, one), (&ana, 999_999)] {
        let answer = who.get(&format!("{USAGE}?token_id={token}")).await;
        answer.refuses_saying(404, "not_found", "there is no such token");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_by_model_is_a_ranking_that_can_be_split_by_the_other_dimensions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _, [one, two, bens]) = example(&app).await;
    let admin = app.admin("carla").await;
    uses(&app, &ana, one, "2026-03-10", "", 2).await;
    let report = ana.get(&format!("{USAGE}?group_by=model")).await.ok();
    let row = |model: &str, amounts: Value| with(amounts, json!({ "model": model }));
    let ranking = json!([
        row("o1", amounts(1_500_001, json!(3.000_002), 3)),
        row("o2", amounts(250_000, json!(0.5), 1)),
        row("", amounts(2, json!(0.000_004), 1)),
    ]);
    assert_eq!((&report["rows"], &report["group_by"]), (&ranking, &json!(["model"])));
    assert_eq!(report["total"], ana.get(USAGE).await.ok()["total"], "grouped or not, the sum is the same");

    let csv = ana.get(&format!("{USAGE}?group_by=model,day,token&from=2026-03-09&format=csv")).await;
    let expected = format!(
        "date,token_id,token_name,model,requests,prompt_tokens,completion_tokens,quota,usd\r\n\
         2026-03-10,{one},one,,1,10,2,2,0.000004\r\n2026-03-10,{one},one,o1,1,10,2,500000,1\r\n\
         2026-03-10,{one},one,o2,1,10,2,250000,0.5\r\n"
    );
    assert_eq!(csv.text, expected);

    let all_users = admin.get(&format!("{EVERYONE}?group_by=model,token&from=2026-03-08&to=2026-03-09")).await.ok();
    assert_eq!(all_users["group_by"], json!(["user", "token", "model"]));
    let rows = all_users["rows"].as_array().unwrap();
    let spent: Vec<_> = rows.iter().map(|row| (row["token_id"].as_i64().unwrap(), &row["model"])).collect();
    assert_eq!(spent, [(two, &json!("o1")), (bens, &json!("o1")), (one, &json!("o1"))]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_by_month_is_the_sum_of_its_days(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let one = ana.creates(json!({ "name": "one" })).await;
    for (day, model, quota) in [
        ("2026-01-31", "o1", 1),
        ("2026-02-01", "o1", 2),
        ("2026-02-28", "o1", 4),
        ("2026-02-28", "o2", 8),
        ("2026-03-01", "o2", 16),
    ] {
        uses(&app, &ana, one, day, model, quota).await;
    }
    let rows = async |query: &str, names: [&str; 3]| {
        let report = ana.get(&format!("{USAGE}?from=2026-01-01&{query}")).await.ok();
        let cells = |row: &Value| names.map(|name| row[name].clone());
        report["rows"].as_array().unwrap().iter().map(cells).collect::<Vec<_>>()
    };
    let expected = [json!(["2026-01", null, 1]), json!(["2026-02", null, 14]), json!(["2026-03", null, 16])];
    assert_eq!(json!(rows("group_by=month", ["month", "date", "quota"]).await), json!(expected));
    let expected = json!([["2026-01", "o1", 1], ["2026-02", "o1", 6], ["2026-02", "o2", 8], ["2026-03", "o2", 16],]);
    assert_eq!(json!(rows("group_by=model,month", ["month", "model", "quota"]).await), expected);
    let both = rows("group_by=month,day", ["month", "date", "quota"]).await;
    assert_eq!(json!(both[3]), json!(["2026-03", "2026-03-01", 16]), "{both:?}");
    let csv = ana.get(&format!("{USAGE}?from=2026-03-01&group_by=month,model&format=csv")).await;
    assert_eq!(csv.text.lines().next(), Some("month,model,requests,prompt_tokens,completion_tokens,quota,usd"));
    assert_eq!(csv.text.lines().nth(1).map(|line| &line[..11]), Some("2026-03,o2,"));
}

/// Writes a charge of 1 at a time.
pub async fn charged(app: &TestApp, owner: &Caller, token: i64, at: i64) {
    let insert = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
                  values ($1, $2, $3, 'o1', 1, 0, 10, 2)";
    sqlx::query(insert).bind(at).bind(token).bind(owner.id).execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_report_can_have_the_days_of_a_zone_of_the_callers_own(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let one = ana.creates(json!({ "name": "one" })).await;
    let bens = ben.creates(json!({ "name": "ben's" })).await;
    // 2026-03-08 at midnight in UTC; in Kathmandu, 5 h 45 min earlier.
    let midnight = 1_772_928_000;
    let theirs = midnight - 20_700;
    for at in [theirs - 1, theirs, midnight - 1, midnight, theirs + 86_399, theirs + 86_400] {
        charged(&app, &ana, one, at).await;
    }
    charged(&app, &ben, bens, theirs).await;
    let admin = app.admin("carla").await;
    let days = async |caller: &Caller, path: &str| {
        let report = caller.get(path).await.ok();
        let rows = report["rows"].as_array().unwrap().iter().map(|row| row["requests"].as_i64().unwrap());
        (report["time_zone"].as_str().unwrap().to_owned(), rows.collect::<Vec<_>>())
    };
    let span = "from=2026-03-07&to=2026-03-09";
    for (caller, path, zone, expected) in [
        (&ana, format!("{USAGE}?{span}&tz=Asia/Kathmandu"), "Asia/Kathmandu", [1, 4, 1]),
        (&ana, format!("{USAGE}?{span}&tz=UTC"), "UTC", [3, 3, 0]),
        (&ana, format!("{USAGE}?{span}&tz=UTC&token_id={one}"), "UTC", [3, 3, 0]),
        (&admin, format!("{EVERYONE}?{span}&tz=Asia/Kathmandu"), "Asia/Kathmandu", [1, 5, 1]),
        (&admin, format!("{EVERYONE}?{span}&tz=Asia/Kathmandu&user_id={}", ben.id), "Asia/Kathmandu", [0, 1, 0]),
        (&admin, format!("{EVERYONE}?{span}&tz=Asia/Kathmandu&token_id={bens}"), "Asia/Kathmandu", [0, 1, 0]),
    ] {
        assert_eq!(days(caller, &path).await, (zone.to_owned(), expected.to_vec()), "{path}");
    }
    let model = ana.get(&format!("{USAGE}?{span}&tz=Asia/Kathmandu&group_by=model")).await.ok();
    assert_eq!(model["rows"], json!([with(amounts(6, json!(0.000_012), 6), json!({ "model": "o1" }))]));
    // Noon of 2026-03-10 in UTC is the next day there.
    let report = ana.get(&format!("{USAGE}?tz=Pacific/Kiritimati&from=2026-03-09")).await.ok();
    assert_eq!((&report["to"], report["rows"].as_array().unwrap().len()), (&json!("2026-03-11"), 3));

    let since = "insert into installation (id, key_check, cell_label, created_time, charges_since) values (1, '', '00', 1, $1) \
                 on conflict (id) do update set charges_since = excluded.charges_since";
    sqlx::query(since).bind(midnight).execute(&app.pool).await.unwrap();
    assert_eq!(days(&ana, &format!("{USAGE}?from=2026-03-08&to=2026-03-08&tz=UTC")).await.1, [3]);
    for (query, code, message) in [
        ("tz=Mars/Olympus", "invalid_filter", "`tz` must be a time zone, such as `Europe/Berlin`"),
        ("tz=UTC&from=2026-02-07", "range_too_large", "with `tz` a report may have at most 31 days"),
        (
            "tz=Asia/Kathmandu&from=2026-03-08",
            "range_too_large",
            "single charges are kept from 2026-03-09 on, so with `tz` or by `hour` a report begins there at the earliest",
        ),
    ] {
        ana.get(&format!("{USAGE}?{query}")).await.refuses_saying(400, code, message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_charge_is_in_the_report_at_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 100).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 7, "model": "o1" })).await.ok();
    let report = ana.get(&format!("{USAGE}?group_by=day,token&from=2026-03-10")).await.ok();
    let row = &report["rows"][0];
    assert_eq!((&row["date"], &row["token_id"], &row["quota"]), (&json!("2026-03-10"), &json!(id), &json!(7)));
    let admin = app.admin("carla").await;
    let row = &admin.get(&format!("{EVERYONE}?group_by=day,gateway")).await.ok()["rows"][0];
    assert_eq!((&row["date"], &row["quota"], &row["requests"]), (&json!("2026-03-10"), &json!(7), &json!(1)));
    assert!(row["gateway_id"].is_i64() && !row["gateway_name"].as_str().unwrap().is_empty(), "{row}");
    let csv = admin.get(&format!("{EVERYONE}?group_by=gateway&format=csv")).await;
    let expected = format!(
        "gateway_id,gateway_name,requests,prompt_tokens,completion_tokens,quota,usd\r\n{},{},1,0,0,7,0.000014\r\n",
        row["gateway_id"],
        row["gateway_name"].as_str().unwrap()
    );
    assert_eq!(csv.text, expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn reports_are_saved_as_csv(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _, [one, two, _]) = example(&app).await;
    ana.put("/api/token/", json!({ "id": one, "name": "=one, \"1\"" })).await.ok();
    let answer = ana.get(&format!("{USAGE}?group_by=day,token&from=2026-03-08&format=csv")).await;
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let disposition = "attachment; filename=\"usage_2026-03-08_2026-03-10.csv\"";
    assert_eq!(answer.header("content-disposition"), Some(disposition));
    let expected = [
        "date,token_id,token_name,requests,prompt_tokens,completion_tokens,quota,usd".to_owned(),
        format!("2026-03-08,{one},\"'=one, \"\"1\"\"\",1,10,2,1,0.000002"),
        format!("2026-03-08,{two},two,1,10,2,1000000,2"),
        format!("2026-03-10,{one},\"'=one, \"\"1\"\"\",2,20,4,750000,1.5"),
        String::new(),
    ];
    assert_eq!(answer.text.split("\r\n").collect::<Vec<_>>(), expected);
    let days = ana.get(&format!("{USAGE}?from=2026-03-09&format=csv")).await;
    let expected = "date,requests,prompt_tokens,completion_tokens,quota,usd\r\n2026-03-09,0,0,0,0,0\r\n\
                    2026-03-10,2,20,4,750000,1.5\r\n";
    assert_eq!(days.text, expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_ranking_is_read_by_pages_with_the_total_of_all(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _, [one, ..]) = example(&app).await;
    let admin = app.admin("carla").await;
    for n in 1..=25 {
        uses(&app, &ana, one, "2026-03-10", &format!("m{n}"), n).await;
    }
    let query = "group_by=model&from=2026-03-10";
    for (caller, path) in [(&ana, USAGE), (&admin, EVERYONE)] {
        let whole = caller.get(&format!("{path}?{query}&p=&page_size=")).await.ok();
        assert_eq!(
            (whole["rows"].as_array().unwrap().len(), whole.get("page"), whole.get("total_rows")),
            (27, None, None)
        );
        let mut rows = Vec::new();
        for page in 1..=4 {
            let report = caller.get(&format!("{path}?{query}&p={page}&page_size=10")).await.ok();
            let numbers = json!([report["page"], report["page_size"], report["total_rows"]]);
            assert_eq!(numbers, json!([page, 10, 27]), "{path}");
            assert_eq!(report["total"], whole["total"], "{path}");
            rows.push(report["rows"].as_array().unwrap().clone());
        }
        assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 7, 0], "{path}");
        assert_eq!(json!(rows.concat()), whole["rows"], "{path}");
        let csv = caller.get(&format!("{path}?{query}&p=2&page_size=10&format=csv")).await;
        assert_eq!(csv.text.lines().count(), 28, "a file has all rows");
    }
    let from_zero = ana.get(&format!("{USAGE}?{query}&p=1&size=1")).await.ok();
    assert_eq!((&from_zero["rows"][0]["model"], &from_zero["page"]), (&json!("o2"), &json!(1)));
    let compared =
        "group_by=token&from=2026-03-10&compare_from=2026-03-08&compare_to=2026-03-08&sort=change&p=2&page_size=1";
    let second = ana.get(&format!("{USAGE}?{compared}")).await.ok();
    assert_eq!((&second["rows"][0]["token_id"], &second["total_rows"]), (&json!(one), &json!(2)));
    ana.get(&format!("{USAGE}?page_size=ten")).await.refuses(400, "invalid_page");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_save_a_month_by_user_group_and_model_with_names_and_addresses(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, [one, ..]) = example(&app).await;
    ana.put("/api/user/self", json!({ "display_name": "The Captain", "email": "ana@ships.example" })).await.ok();
    let changed = sqlx::query("update tokens set group_name = 'auto' where id = $1").bind(one).execute(&app.pool).await;
    assert_eq!(changed.unwrap().rows_affected(), 1);
    let path = "from=2026-03-01&to=2026-03-31&group_by=user,group,model&format=csv";
    let csv = app.admin("carla").await.get(&format!("{EVERYONE}?{path}")).await;
    let lines = [
        "user_id,username,display_name,email,group,model,requests,prompt_tokens,completion_tokens,quota,usd".to_owned(),
        format!("{},ana,The Captain,ana@ships.example,default,o1,1,10,2,1000000,2", ana.id),
        format!("{},ana,The Captain,ana@ships.example,auto,o1,2,20,4,500001,1.000002", ana.id),
        format!("{},ana,The Captain,ana@ships.example,auto,o2,1,10,2,250000,0.5", ana.id),
        format!("{},ben,ben,,default,o1,1,10,2,3,0.000006", ben.id),
        String::new(),
    ];
    assert_eq!(csv.text.split("\r\n").collect::<Vec<_>>(), lines);
    let disposition = "attachment; filename=\"usage_2026-03-01_2026-03-31.csv\"";
    assert_eq!(csv.header("content-disposition"), Some(disposition));
    ana.get(&format!("{USAGE}?{path}")).await.refuses(400, "invalid_filter");

    // Of an account that was deleted, the username remains.
    app.root().await.delete(&format!("/api/admin/users/{}", ana.id)).await.ok();
    let csv = app.root().await.get(&format!("{EVERYONE}?{path}")).await.text;
    assert!(csv.contains(",ana,,,default,o1,") && !csv.contains("ana@ships.example"), "{csv}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_see_the_usage_of_all_users_one_user_or_one_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, [one, two, bens]) = example(&app).await;
    let admin = app.admin("carla").await;
    let report = async |query: &str| admin.get(&format!("{EVERYONE}?{query}")).await.ok();
    assert_eq!(report("from=2026-03-08").await["total"], amounts(1_750_004, json!(3.500_008), 5));
    let users = report("group_by=user").await;
    let row = |who: &Caller, amounts: Value| {
        let name = &who.username;
        with(amounts, json!({ "user_id": who.id, "username": name, "display_name": name, "email": "" }))
    };
    let ranking =
        json!([row(&ana, amounts(1_750_001, json!(3.500_002), 4)), row(&ben, amounts(3, json!(0.000_006), 1)),]);
    assert_eq!(users["rows"], ranking);
    let tokens = report("group_by=token").await;
    assert_eq!(tokens["group_by"], json!(["user", "token"]));
    let ids: Vec<_> = tokens["rows"].as_array().unwrap().iter().map(|row| row["token_id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [two, one, bens]);
    assert_eq!((&tokens["rows"][2]["username"], &tokens["rows"][2]["token_name"]), (&json!("ben"), &json!("ben's")));
    assert_eq!(report(&format!("user_id={}", ben.id)).await["total"]["quota"], 3);
    assert_eq!(report(&format!("token_id={one}")).await["total"]["quota"], 750_001);
    let csv = admin.get(&format!("{EVERYONE}?group_by=user&from=2026-03-09&format=csv")).await;
    let expected = format!(
        "user_id,username,display_name,email,requests,prompt_tokens,completion_tokens,quota,usd\r\n\
         {},ana,ana,,2,20,4,750000,1.5\r\n{},ben,ben,,1,10,2,3,0.000006\r\n",
        ana.id, ben.id
    );
    assert_eq!(csv.text, expected);
    for (query, message) in [("user_id=999999", "there is no such user"), ("token_id=999999", "there is no such token")]
    {
        admin.get(&format!("{EVERYONE}?{query}")).await.refuses_saying(404, "not_found", message);
    }
    let message = "`group_by` must be `hour`, `day`, `month`, `user`, `token`, `group`, `model`, `gateway`, or several of \
                   them, separated by commas";
    admin.get(&format!("{EVERYONE}?group_by=models")).await.refuses_saying(400, "invalid_filter", message);
    let message =
        "what a token used is not known by gateway: leave `token` and `group` out of `group_by`, and `token_id`";
    admin.get(&format!("{EVERYONE}?group_by=gateway&from=1950-01-01&to=1950-12-31")).await.ok();
    admin.get(&format!("{EVERYONE}?group_by=gateway&user_id={}&from=0001-01-01&to=0001-02-01", ana.id)).await.ok();
    sqlx::query(
        "insert into installation (id, key_check, cell_label, created_time, charges_since) values (1, '', '00', 1, $1)",
    )
    .bind(START)
    .execute(&app.pool)
    .await
    .unwrap();
    let too_early = "usage by gateway is not added up yet for days before 2026-03-11, of which not all charges are kept; ask for \
                     later days, or later";
    let early = admin.get(&format!("{EVERYONE}?group_by=gateway&from=2026-03-01")).await;
    early.refuses_saying(400, "range_too_large", too_early);
    sqlx::query("update usage_rollup set closed_until = '2026-03-13', rolled_until = '2026-03-13'")
        .execute(&app.pool)
        .await
        .unwrap();
    admin.get(&format!("{EVERYONE}?group_by=gateway&from=2026-03-01")).await.ok();
    let of_one = format!("group_by=gateway&token_id={one}");
    for query in ["group_by=token,gateway", "group_by=group,gateway", &of_one] {
        admin.get(&format!("{EVERYONE}?{query}")).await.refuses_saying(400, "invalid_filter", message);
    }
    let message = "`user_id` must be a whole number";
    admin.get(&format!("{EVERYONE}?user_id=ana")).await.refuses_saying(400, "invalid_query", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_report_that_is_too_large_or_unknown_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _, [one, ..]) = example(&app).await;
    let date = "must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05";
    for (query, code, message) in [
        ("from=2026-3-1", "invalid_range", format!("`from` {date}")),
        ("to=2026-02-30", "invalid_range", format!("`to` {date}")),
        ("from=2026-03-02&to=2026-03-01", "invalid_range", "`from` is after `to`".to_owned()),
        ("from=2025-03-09", "range_too_large", "a report may have at most 366 days".to_owned()),
        (
            "group_by=user",
            "invalid_filter",
            "`group_by` must be `hour`, `day`, `month`, `token`, `group`, `model`, or several of them, separated by commas"
                .to_owned(),
        ),
        ("format=xml", "invalid_filter", "`format` must be `json` or `csv`".to_owned()),
        ("token_id=x", "invalid_query", "`token_id` must be a whole number".to_owned()),
    ] {
        ana.get(&format!("{USAGE}?{query}")).await.refuses_saying(400, code, &message);
    }
    // Usage of many tokens on many days: 50,000 lines fit, one more does not.
    let insert = "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, \
                  completion_tokens) select 1000000 + t, $1, '2026-02-20'::date + d, 'o1', 1, 1, 1, 1 \
                  from generate_series(1, $2) t, generate_series(1, $3) d";
    let many = async |tokens: i32, days: i32| {
        sqlx::query("delete from usage_daily where token_id >= 1000000").execute(&app.pool).await.unwrap();
        sqlx::query(insert).bind(ana.id).bind(tokens).bind(days).execute(&app.pool).await.unwrap();
    };
    many(5_000, 10).await;
    let path = format!("{USAGE}?group_by=day,token&from=2026-02-20&to=2026-03-05&format=csv");
    assert_eq!(ana.get(&path).await.text.matches("\r\n").count(), 50_001);
    uses(&app, &ana, one, "2026-03-05", "o1", 1).await;
    let message = "the report would have more than 50000 rows; ask for fewer days or fewer groups";
    ana.get(&path).await.refuses_saying(400, "range_too_large", message);
    let by_day = ana.get(&format!("{USAGE}?from=2026-02-20&to=2026-03-05")).await.ok();
    assert_eq!(by_day["total"]["requests"], 50_001);
}
