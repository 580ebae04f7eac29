//! The spans that the real program sends to a collector, here a server that decodes and keeps them. `make test-otlp`.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_collect,
    clippy::match_same_arms,
    clippy::needless_pass_by_value,
    clippy::single_match_else,
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking, run their own SQL, and read better as tables and long sequences"
)]

#[path = "../it/harness/mod.rs"]
mod harness;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use http::StatusCode;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use prost::Message;
use serde_json::json;
use sqlx::PgPool;
use tokio::net::TcpListener;

use harness::database::url;
use harness::process::run;
use harness::{Client, Server};

/// What a collector received.
#[derive(Clone, Default)]
struct Collector {
    bodies: Arc<Mutex<Vec<Bytes>>>,
}

impl Collector {
    /// Listens, and returns its address.
    async fn start() -> (Self, String) {
        async fn take(State(collector): State<Collector>, body: Bytes) -> StatusCode {
            collector.bodies.lock().unwrap().push(body);
            StatusCode::OK
        }
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/traces", post(take)).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector, address)
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let bodies = self.bodies.lock().unwrap();
        bodies.iter().map(|body| ExportTraceServiceRequest::decode(body.clone()).unwrap()).collect()
    }

    /// Every span so far.
    fn spans(&self) -> Vec<Span> {
        let resources = self.requests().into_iter().flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// The spans that have this value.
    fn with(&self, key: &str, value: &str) -> Vec<Span> {
        self.spans().into_iter().filter(|span| text(&span.attributes, key).as_deref() == Some(value)).collect()
    }
}

/// An attribute as text.
fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.clone()? {
        AnyValue { value: Some(Attribute::StringValue(text)) } => Some(text),
        AnyValue { value: Some(Attribute::IntValue(number)) } => Some(number.to_string()),
        AnyValue { value } => panic!("{value:?}"),
    }
}

#[sqlx::test(migrations = false)]
async fn requests_batches_and_jobs_are_sent_as_spans_without_secrets(pool: PgPool) {
    let (collector, address) = Collector::start().await;
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_LOG__OTLP_ENDPOINT", address.as_str())];
    let mut server = Server::start(dir.path(), &settings).await;
    let root = Client::root(&server).await;
    let (_, key) = root.creates(json!({ "name": "one", "remain_quota": 100 })).await.unwrap();
    root.post("/api/admin/users/1/quota", json!({ "set": 1_000 })).await.ok();
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let credential = made["credential"].as_str().unwrap().to_owned();
    let gateway = Client::with(&server, &credential);
    root.with_id("read-1").get("/api/user/self").await.ok();
    gateway.with_id("charged-1").post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await.ok();
    root.with_id("missing-1").get("/api/token/12345").await.refuses(404, "not_found");
    // A failure of the database, as its own span says.
    sqlx::query("alter table tokens rename to gone").execute(&pool).await.unwrap();
    root.with_id("broken-1").get("/api/token/").await.refuses(500, "internal");
    sqlx::query("alter table gone rename to tokens").execute(&pool).await.unwrap();
    // In another thread, since the collector has to answer.
    let ended = tokio::task::spawn_blocking(move || (server.terminate(), server.output())).await.unwrap();
    assert_eq!(ended.0, Some(0), "{}", ended.1);
    assert!(!ended.1.contains("the last spans were not sent"), "{}", ended.1);

    let one = |id: &str| {
        let mut found = collector.with("http_request_id", id);
        assert_eq!(found.len(), 1, "{id}: {found:?}");
        found.remove(0)
    };
    let read = one("read-1");
    assert_eq!((read.name.as_str(), read.kind), ("GET /api/user/self", SpanKind::Server as i32));
    assert!(read.end_time_unix_nano > read.start_time_unix_nano);
    let of = |span: &Span, key: &str| text(&span.attributes, key);
    assert_eq!(of(&read, "method").as_deref(), Some("GET"));
    assert_eq!(of(&read, "route").as_deref(), Some("/api/user/self"));
    assert_eq!(of(&read, "user_id").as_deref(), Some("1"));
    assert_eq!(of(&read, "status").as_deref(), Some("200"));
    assert!(of(&read, "db_calls").is_some_and(|calls| calls != "0"));
    let status = |span: &Span| span.status.as_ref().map(Status::code).unwrap_or_default();
    assert_eq!(status(&read), SpanStatus::Unset);

    let missing = one("missing-1");
    assert_eq!((of(&missing, "status").as_deref(), of(&missing, "error").as_deref()), (Some("404"), Some("not_found")));
    assert_eq!(status(&missing), SpanStatus::Unset, "a refusal is no failure of the server");
    let broken = one("broken-1");
    assert_eq!((of(&broken, "error").as_deref(), status(&broken)), (Some("internal"), SpanStatus::Error));
    assert_eq!(of(&one("charged-1"), "route").as_deref(), Some("/api/gateway/charge"));
    assert_eq!(collector.with("operations", "1").len(), 1, "the batch of the charge");
    assert!(collector.spans().iter().any(|span| span.name == "job"));

    let resources = collector.requests().into_iter().flat_map(|request| request.resource_spans);
    for resource in resources {
        let attributes = resource.resource.unwrap().attributes;
        assert_eq!(text(&attributes, "service.name").as_deref(), Some("keymeter"));
    }
    for body in collector.bodies.lock().unwrap().iter() {
        let body = String::from_utf8_lossy(body);
        for secret in [&key, &credential, harness::ROOT_PASSWORD] {
            assert!(!body.contains(secret));
        }
    }
}

#[sqlx::test(migrations = false)]
async fn no_request_and_no_stop_waits_for_a_collector_that_does_not_answer(pool: PgPool) {
    // Accepts connections and never reads.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_LOG__OTLP_ENDPOINT", address.as_str())];
    let mut server = Server::start(dir.path(), &settings).await;
    let root = Client::root(&server).await;
    // More than wait to be sent.
    for _ in 0..2_500 {
        root.get("/healthz").await.ok();
    }
    let began = Instant::now();
    assert_eq!(server.terminate(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(20), "the collector is given up");
    let output = server.output();
    assert!(output.contains("the last spans were not sent"), "{output}");
    drop(listener);
}

#[sqlx::test(migrations = false)]
async fn an_address_that_is_none_is_refused(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    for wrong in ["127.0.0.1:4318", "https://collector:4318", "grpc://collector"] {
        let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_LOG__OTLP_ENDPOINT", wrong)];
        let output = run(dir.path(), &settings, &["serve"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(
            message.contains("`log.otlp_endpoint` must begin with http://, such as \"http://127.0.0.1:4318\""),
            "{message}"
        );
    }
}
