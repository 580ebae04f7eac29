//! The line of a request in the log of the real program has the cause of a failure, under the id of the answer.

use std::process::Command;

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::process::keymeter;
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Server};

async fn execute(pool: &PgPool, statement: &'static str) {
    sqlx::query(statement).execute(pool).await.unwrap();
}

/// The one line of the request with this id.
async fn line(server: &Server, answer: &Answer, id: &str) -> Value {
    assert_eq!(answer.header("x-request-id"), Some(id));
    let lines = server.logged(|line| line.contains(id) && line.contains(r#""target":"keymeter::request""#)).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    serde_json::from_str(&lines[0]).unwrap()
}

/// The level and the cause of a line.
fn level_and_cause(line: &Value) -> (&str, &str) {
    assert_eq!(line["target"], "keymeter::request");
    (line["level"].as_str().unwrap(), line["cause"].as_str().unwrap_or_default())
}

#[sqlx::test(migrations = false)]
async fn a_failure_has_its_cause_on_the_line_of_its_request(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", url(&pool)),
        ("KEYMETER_LOG__FORMAT", "json".to_owned()),
        ("KEYMETER_SERVER__NAME", "a \"b\"".to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::start(dir.path(), &settings).await;
    let root = Client::root(&server).await;
    let (id, key) = root.creates(json!({ "name": "one", "remain_quota": 100 })).await.unwrap();
    root.post("/api/admin/users/1/quota", json!({ "set": 1_000 })).await;
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let gateway = Client::with(&server, made["credential"].as_str().unwrap());

    let fine = root.with_id("fine-1").get("/api/user/self").await;
    fine.ok();
    let written = line(&server, &fine, "fine-1").await;
    assert_eq!(level_and_cause(&written), ("INFO", ""));
    assert_eq!(written["server"], "a \"b\"");
    let metrics = Client::stranger(&server).get("/metrics").await.text;
    assert!(metrics.contains(r#"server="a \"b\"""#), "{metrics}");
    let calls = |line: &Value| (line["db_calls"].as_u64().unwrap(), line["db_us"].as_u64().unwrap());
    let (count, micros) = calls(&written);
    assert!(count > 0 && micros > 0 && micros <= written["us"].as_u64().unwrap(), "{written}");
    let live = root.with_id("live-1").get("/healthz").await;
    assert_eq!(calls(&line(&server, &live, "live-1").await), (0, 0), "no statement, no time");
    let verify = json!({ "key": key });
    gateway.with_id("verified-0").post("/api/gateway/verify", verify.clone()).await.ok();
    let verified = gateway.with_id("verified-1").post("/api/gateway/verify", verify).await;
    let written = line(&server, &verified, "verified-1").await;
    assert_eq!(calls(&written), (0, 0), "a cached key");
    assert_eq!((&written["gateway_id"], &written["token_id"]), (&made["id"], &json!(id)));
    let refused = root.with_id("refused-1").get("/api/token/99").await;
    refused.refuses(404, "not_found");
    assert_eq!(level_and_cause(&line(&server, &refused, "refused-1").await), ("INFO", ""));

    // A row that cannot be decrypted.
    execute(&pool, "update tokens set key_sealed = set_byte(key_sealed, 40, 255 - get_byte(key_sealed, 40))").await;
    let failed = root.with_id("undecryptable-1").get(&format!("/api/token/{id}")).await;
    let message = "internal error; quote X-Request-Id to your operator";
    failed.refuses_saying(500, "internal", message);
    let written = line(&server, &failed, "undecryptable-1").await;
    let cause = "a stored key cannot be decrypted; the row is damaged or was encrypted with another master key; \
                 run `keymeter doctor`";
    assert_eq!(level_and_cause(&written), ("ERROR", cause));
    assert_eq!((&written["status"], &written["error"]), (&json!(500), &json!("internal")));

    // A statement that fails, alone and in a part of a batch.
    execute(&pool, "alter table audit_log rename to elsewhere").await;
    let failed = root.with_id("no-table-1").get("/api/admin/audit").await;
    failed.refuses_saying(500, "internal", message);
    let no_table = r#"database error: error returned from database: relation "audit_log" does not exist"#;
    let written = line(&server, &failed, "no-table-1").await;
    let (level, cause) = level_and_cause(&written);
    assert!(level == "ERROR" && cause.starts_with(no_table), "{level} {cause}");
    assert!(!failed.text.contains("audit_log"), "{}", failed.text);

    execute(&pool, "alter table charges rename to elsewhere_too").await;
    let charges = json!({ "charges": [{ "key": "sk-nonsense", "quota": 1 }, { "key": key, "quota": 1 }] });
    let failed = gateway.with_id("batch-1").post("/api/gateway/charges", charges).await;
    assert_eq!((&failed.ok()[0]["error"], &failed.ok()[1]["error"]), (&json!("invalid_key"), &json!("internal")));
    let written = line(&server, &failed, "batch-1").await;
    let (level, cause) = level_and_cause(&written);
    assert!(level == "WARN" && cause.contains(r#"relation "charges" does not exist"#), "{level} {cause}");

    // A transaction that holds a row for too long.
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select 1 from users for update").execute(&mut *holder).await.unwrap();
    let profile = json!({ "display_name": "Root" });
    let failed = root.with_id("held-1").send(Method::PUT, "/api/user/self", profile.to_string()).await;
    failed.refuses(503, "database_unavailable");
    let written = line(&server, &failed, "held-1").await;
    let (level, cause) = level_and_cause(&written);
    assert!(level == "WARN" && cause.starts_with("another transaction holds a row: "), "{level} {cause}");
}

#[sqlx::test(migrations = false)]
async fn a_line_that_is_no_answer_says_for_which_request_batch_or_job_it_was_written(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", url(&pool)),
        ("KEYMETER_LOG__FORMAT", "json".to_owned()),
        ("KEYMETER_SERVER__METRICS", "open".to_owned()),
        // The statements of sqlx are the lines that a request writes.
        ("KEYMETER_LOG__FILTER", "info,sqlx::query=debug".to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::start(dir.path(), &settings).await;
    let root = Client::root(&server).await;
    // One that is read for this request alone: lists without a filter are read together. Past its end the total is read
    // too.
    root.with_id("page-1").get("/api/token/?status=1&p=1").await.ok();
    eventually("the round ends", async || has_succeeded(&server, "analyse tables without statistics").await).await;
    execute(&pool, "alter table sign_in_lockouts rename to elsewhere").await;
    // A filter without lines of requests keeps the spans.
    let mut quiet = settings;
    quiet[3].1 = "warn,sqlx::query=debug";
    let second = Server::start(dir.path(), &quiet).await;
    let lines = |server: &Server, is_meant: fn(&Value) -> bool| -> Vec<Value> {
        let output = server.output();
        output.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(is_meant).collect()
    };
    let of_page =
        lines(&server, |line| line["spans"][0]["http_request_id"] == "page-1" && line["target"] == "sqlx::query");
    assert!(of_page.len() > 1, "{of_page:?}");
    for line in &of_page {
        let span = &line["spans"][0];
        assert_eq!(
            (&span["name"], &span["method"], &span["route"]),
            (&json!("request"), &json!("GET"), &json!("/api/token"))
        );
    }
    assert!(of_page.iter().any(|line| line["spans"][0]["user_id"] == 1), "{of_page:?}");
    let failed = |line: &Value| line["message"] == "a job failed; the next round tries again";
    eventually("the job fails", async || !lines(&second, failed).is_empty()).await;
    let named: Vec<Value> = lines(&second, failed).into_iter().map(|line| line["job"].clone()).collect();
    assert_eq!(named, ["delete old refused sign-ins"]);
    let of_job = lines(&second, |line| line["spans"][0]["job"] == "delete old refused sign-ins");
    assert!(!of_job.is_empty(), "its statements have its span");
    eventually("the round ends", async || has_succeeded(&second, "analyse tables without statistics").await).await;
    assert!(!has_succeeded(&second, "delete old refused sign-ins").await);
}

#[sqlx::test(migrations = false)]
async fn a_log_that_nobody_reads_stops_no_request_and_what_is_dropped_is_counted(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("log");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Each request writes many lines.
    let settings =
        [("DATABASE_URL", &*url(&pool)), ("KEYMETER_LOG__FILTER", "trace"), ("KEYMETER_SERVER__METRICS", "open")];
    let command = keymeter(dir.path(), &settings);
    let mut with_pipe = Command::new("sh");
    with_pipe.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    with_pipe.args(["-c", "exec \"$0\" serve 2<>\"$1\""]).arg(command.get_program()).arg(&pipe);
    let mut server = Server::spawn(dir.path(), with_pipe).await;
    let stranger = Client::stranger(&server);
    eventually("lines are dropped", async || {
        for _ in 0..50 {
            assert_eq!(stranger.get("/healthz").await.status, 200);
        }
        let metrics = stranger.get("/metrics").await.text;
        let dropped = metrics.lines().find_map(|line| line.strip_prefix("keymeter_log_lines_dropped_total "));
        dropped.unwrap() != "0"
    })
    .await;
    assert_eq!(server.terminate(), Some(0));
}

/// Whether the metric of a job says that it succeeded.
async fn has_succeeded(server: &Server, job: &str) -> bool {
    let metrics = Client::stranger(server).get("/metrics").await.text;
    let sample = format!("keymeter_job_last_success_timestamp_seconds{{name=\"{job}\"}} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&sample)).unwrap();
    value != "0"
}
