//! Specification §13.6: a usage report beside that of another range.

use keymeter::domain::scope::Scope;
use keymeter::domain::time::Day;
use keymeter::domain::usage_report_request::{Grouping, ReportSpan};
use keymeter::storage::usage_reports;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::TestApp;
use crate::usage_reports::{EVERYONE, USAGE, amounts, charged, example, with};

/// March 10 beside March 8 and 9.
const RANGES: &str = "from=2026-03-10&to=2026-03-10&compare_from=2026-03-08&compare_to=2026-03-09";

/// What was used now and before, and the change.
fn compared(now: Value, before: Value, change: Value) -> Value {
    with(now, json!({ "before": before, "change": change }))
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_comparison_has_a_row_for_what_was_used_in_either_range(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _, [one, two, _]) = example(&app).await;
    let of_one = compared(
        amounts(750_000, json!(1.5), 2),
        amounts(1, json!(0.000_002), 1),
        amounts(749_999, json!(1.499_998), 1),
    );
    let of_two = compared(amounts(0, json!(0), 0), amounts(1_000_000, json!(2), 1), amounts(-1_000_000, json!(-2), -1));
    let row = |id: i64, name: &str, sums: &Value| with(sums.clone(), json!({ "token_id": id, "token_name": name }));
    let (one_row, two_row) = (row(one, "one", &of_one), row(two, "two", &of_two));
    let report = ana.get(&format!("{USAGE}?{RANGES}&group_by=token")).await.ok();
    let expected = json!({
        "from": "2026-03-10", "to": "2026-03-10", "compare_from": "2026-03-08", "compare_to": "2026-03-09",
        "time_zone": "UTC", "group_by": ["token"],
        "total": compared(
            amounts(750_000, json!(1.5), 2),
            amounts(1_000_001, json!(2.000_002), 2),
            amounts(-250_001, json!(-0.500_002), 0),
        ),
        "rows": [one_row, two_row],
    });
    assert_eq!(report, expected);
    let by_change = ana.get(&format!("{USAGE}?{RANGES}&group_by=token&sort=change")).await.ok();
    assert_eq!((&by_change["rows"], &by_change["total"]), (&json!([two_row, one_row]), &expected["total"]));

    let csv = ana.get(&format!("{USAGE}?{RANGES}&group_by=token&sort=change&format=csv")).await;
    let lines = [
        "token_id,token_name,requests,prompt_tokens,completion_tokens,quota,usd,requests_before,prompt_tokens_before,\
         completion_tokens_before,quota_before,usd_before,requests_change,prompt_tokens_change,\
         completion_tokens_change,quota_change,usd_change"
            .to_owned(),
        format!("{two},two,0,0,0,0,0,1,10,2,1000000,2,-1,-10,-2,-1000000,-2"),
        format!("{one},one,2,20,4,750000,1.5,1,10,2,1,0.000002,1,10,2,749999,1.499998"),
        String::new(),
    ];
    assert_eq!(csv.text.split("\r\n").collect::<Vec<_>>(), lines);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_compare_users_and_single_charges_of_a_zone(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, [one, _, bens]) = example(&app).await;
    let admin = app.admin("carla").await;
    // The name, and what was used now and before.
    let rows = async |query: &str| -> Vec<(Value, Value, Value)> {
        let report = admin.get(&format!("{EVERYONE}?{query}")).await.ok();
        let rows = report["rows"].as_array().unwrap().iter();
        rows.map(|row| (row["username"].clone(), row["quota"].clone(), row["before"]["quota"].clone())).collect()
    };
    let ranges = "from=2026-03-10&to=2026-03-10&compare_from=2026-03-09&compare_to=2026-03-09";
    let expected = [(json!("ana"), json!(750_000), json!(0)), (json!("ben"), json!(0), json!(3))];
    assert_eq!(rows(&format!("{ranges}&group_by=user")).await, expected);
    assert_eq!(rows(&format!("{ranges}&group_by=user&user_id={}", ben.id)).await, expected[1..]);

    // 2026-03-09 at midnight in Kathmandu.
    let midnight = 1_773_014_400 - 20_700;
    for at in [midnight, midnight + 1, midnight + 86_400] {
        charged(&app, &ana, one, at).await;
    }
    charged(&app, &ben, bens, midnight + 86_399).await;
    let expected = [(json!("ana"), json!(1), json!(2)), (json!("ben"), json!(0), json!(1))];
    assert_eq!(rows(&format!("{ranges}&group_by=user&tz=Asia/Kathmandu")).await, expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_comparison_is_refused_with_half_a_range_a_longer_one_or_by_time(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let by_time =
        "hours, days and months of two ranges cannot be compared: name something else in `group_by`, such as `model`";
    let date = "must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05";
    for (query, code, message) in [
        (
            "compare_from=2026-03-01&group_by=model",
            "invalid_range",
            "`compare_from` and `compare_to` belong together: send both or none".to_owned(),
        ),
        ("compare_from=2026-3-1&compare_to=2026-03-02", "invalid_range", format!("`compare_from` {date}")),
        ("compare_from=2026-03-01&compare_to=March", "invalid_range", format!("`compare_to` {date}")),
        (
            "compare_from=2026-03-02&compare_to=2026-03-01&group_by=model",
            "invalid_range",
            "`compare_from` is after `compare_to`".to_owned(),
        ),
        (
            "compare_from=2024-03-01&compare_to=2026-03-01&group_by=model",
            "range_too_large",
            "a report may have at most 366 days".to_owned(),
        ),
        (
            "compare_from=2026-01-01&compare_to=2026-02-01&group_by=model&tz=UTC",
            "range_too_large",
            "with `tz` a report may have at most 31 days".to_owned(),
        ),
        ("compare_from=2026-02-01&compare_to=2026-02-28", "invalid_filter", by_time.to_owned()),
        ("compare_from=2026-02-01&compare_to=2026-02-28&group_by=model,month", "invalid_filter", by_time.to_owned()),
        ("compare_from=2026-02-01&compare_to=2026-02-01&group_by=hour", "invalid_filter", by_time.to_owned()),
        (
            "group_by=model&sort=change",
            "invalid_filter",
            "`sort` must be `change`, beside `compare_from` and `compare_to`".to_owned(),
        ),
    ] {
        ana.get(&format!("{USAGE}?{query}")).await.refuses_saying(400, code, &message);
    }
    // Each range has fewer rows than a report may have, both together have more.
    let insert = "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, \
                  completion_tokens) select 1000000 + t, $1, '2026-03-08'::date + t / 25001, 'o1', 1, 1, 1, 1 \
                  from generate_series(1, 50002) t";
    sqlx::query(insert).bind(ana.id).execute(&app.pool).await.unwrap();
    let both = "from=2026-03-09&to=2026-03-10&compare_from=2026-03-08&compare_to=2026-03-08&group_by=token";
    let message = "the report would have more than 50000 rows; ask for fewer days or fewer groups";
    ana.get(&format!("{USAGE}?{both}")).await.refuses_saying(400, "range_too_large", message);
    let alone = ana.get(&format!("{USAGE}?from=2026-03-09&to=2026-03-10&group_by=token")).await.ok();
    assert_eq!(alone["rows"].as_array().unwrap().len(), 25_002);
    let itself = "from=2026-03-09&to=2026-03-10&compare_from=2026-03-09&compare_to=2026-03-10&group_by=token";
    let unchanged = ana.get(&format!("{USAGE}?{itself}")).await.ok();
    assert_eq!(
        (unchanged["rows"].as_array().unwrap().len(), &unchanged["total"]["change"]["quota"]),
        (25_002, &json!(0))
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_range_reads_at_most_one_row_more_than_is_left(pool: PgPool) {
    let app = TestApp::new(pool).await;
    example(&app).await;
    let day = |text| Day::parse(text).unwrap();
    let span = ReportSpan { from: day("2026-03-08"), to: day("2026-03-10") };
    let grouping = Grouping::parse(Some("model")).unwrap();
    let mut tx = app.pool.begin().await.unwrap();
    for (left, read) in [(6, 5), (5, 5), (4, 5), (3, 4), (0, 1)] {
        let grouped = usage_reports::list(&mut tx, Scope::Everyone, span, &grouping, left).await.unwrap();
        assert_eq!(grouped.read, read, "{left}");
    }
}
