//! The metering front in front of an upstream that answers as the cases of `crates/meter` say, on a real Keymeter: what
//! is refused, charged, or nothing; forty requests at once; and a Keymeter that is killed.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keymeter_door::settings::DoorOptions;
use keymeter_front::front;
use keymeter_front::settings::{FrontOptions, FrontSettings, OnLeave};
use serde_json::json;
use sqlx::PgPool;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::harness::metering::{Ending, Keymeter, QUOTA, RunningDoor, cases, planned_upstream, read_request, upstream};
use crate::harness::wait::eventually;

/// A front before this upstream, and what stops it.
async fn start(keymeter: &Keymeter, upstream: SocketAddr, door: DoorOptions, options: FrontOptions) -> RunningDoor {
    let settings = FrontSettings {
        door: keymeter.door(door),
        listen: "127.0.0.1:0".to_owned(),
        upstream: format!("http://{upstream}/v1").parse().unwrap(),
        upstream_key: None,
        upstream_ca: None,
        operation_listen: None,
        options,
    };
    let ((started, address), (stop, stopped)) = (oneshot::channel(), oneshot::channel::<()>());
    let task = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        front::run(&settings, |address| started.send(address).unwrap(), stopped).await.unwrap();
    });
    RunningDoor { address: address.await.unwrap(), stop, task }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_case_of_the_meter_is_refused_or_charged_as_it_says(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    for case in cases() {
        let upstream = planned_upstream(Arc::new(Mutex::new(case.planned()))).await;
        let meter = serde_json::from_value(case.settings()).unwrap();
        let read_timeout_seconds = if case.end() == "given_up" { 1 } else { 30 };
        let options = FrontOptions { on_leave: OnLeave::Close, read_timeout_seconds, ..FrontOptions::default() };
        let door = DoorOptions { meter, ..DoorOptions::default() };
        let front = start(&keymeter, upstream, door, options).await;
        let (id, key) = keymeter.key(QUOTA).await;
        let waiting = case.send(&front, &key).await;
        front.stop().await;
        drop(waiting);
        assert_eq!(QUOTA - keymeter.remain(id).await, case.charge(&keymeter).await, "{}", case.name);
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forty_at_once_with_quota_for_five(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }], "max_tokens": 100 });
    let bytes = body.to_string().len();
    let usage = json!({ "prompt_tokens": bytes.div_ceil(3), "completion_tokens": 100 });
    let upstream =
        upstream(HEAD.to_owned(), json!({ "usage": usage }).to_string().into_bytes(), Ending::Complete).await;
    let front = start(&keymeter, upstream, DoorOptions::default(), FrontOptions::default()).await;
    let units = json!({ "input_tokens": bytes.div_ceil(3), "output_tokens": 100 });
    let (_, hold) = keymeter.cost(&units, &json!({})).await;
    let (id, key) = keymeter.key(5 * hold).await;
    let posts = (0..40).map(|_| front.post("/v1/chat/completions", &key, &[], body.to_string().into_bytes()));
    let mut statuses: Vec<u16> =
        futures_util::future::join_all(posts).await.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    // Those that end soon give back what they held above their cost, so some more may pass; never more than is paid.
    let passed = statuses.iter().filter(|status| **status == 200).count();
    assert!((5..40).contains(&passed) && statuses.iter().all(|status| matches!(status, 200 | 402)), "{statuses:?}");
    front.stop().await;
    let (cost, _) = keymeter.cost(&units, &json!({})).await;
    assert_eq!(keymeter.remain(id).await, 5 * hold - i64::try_from(passed).unwrap() * cost);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nothing_passes_without_keymeter_and_what_was_done_is_charged_when_it_is_back(pool: PgPool) {
    let mut keymeter = Keymeter::start(&pool).await;
    let usage = json!({ "usage": { "prompt_tokens": 100, "completion_tokens": 10 } }).to_string().into_bytes();
    let upstream = upstream(HEAD.to_owned(), usage, Ending::Complete).await;
    let front = start(&keymeter, upstream, DoorOptions::default(), FrontOptions::default()).await;
    let (id, key) = keymeter.key(QUOTA).await;
    let body = json!({ "model": "m", "messages": [], "max_tokens": 100 }).to_string().into_bytes();
    assert_eq!(front.post("/v1/chat/completions", &key, &[], body.clone()).await.status(), 200);
    keymeter.server.kill();
    let refused = reqwest::Client::new().post(format!("http://{}/v1/chat/completions", front.address));
    let refused = refused.bearer_auth(&key).body(body.clone()).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"2".parse().unwrap()));
    assert!(refused.text().await.unwrap().contains("keymeter_unavailable"));
    keymeter.restart().await;
    assert_eq!(front.post("/v1/chat/completions", &key, &[], body).await.status(), 200);
    eventually("both are charged", async || keymeter.remain(id).await == QUOTA - 300).await;
    front.stop().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_hold_is_extended_for_as_long_as_an_answer_comes(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        // None of the pauses is as long as half of the hold.
        for _ in 0..18 {
            stream.write_all(b": still thinking\n\n").await.unwrap();
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
        stream.write_all(format!("data: {usage}\n\n").as_bytes()).await.unwrap();
    });
    let front =
        start(&keymeter, upstream, DoorOptions { ttl_seconds: 3, ..DoorOptions::default() }, FrontOptions::default())
            .await;
    let (id, key) = keymeter.key(QUOTA).await;
    let body = json!({ "model": "m", "messages": [], "max_tokens": 100, "stream": true }).to_string().into_bytes();
    let answer = front.post("/v1/chat/completions", &key, &[], body).await;
    assert!(answer.text().await.unwrap().contains("completion_tokens"));
    front.stop().await;
    assert_eq!(keymeter.remain(id).await, QUOTA - 150);
    let seconds: i64 =
        sqlx::query_scalar("select expires_at - created_time from reservations").fetch_one(&pool).await.unwrap();
    assert!(seconds > 5, "{seconds}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_demo_upstream_is_metered_whole_and_streamed(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let front = start(
        &keymeter,
        keymeter_front::demo_upstream::start().await.unwrap(),
        DoorOptions::default(),
        FrontOptions::default(),
    )
    .await;
    let (id, key) = keymeter.key(QUOTA).await;
    for is_stream in [false, true] {
        let body = json!({ "model": "echo", "stream": is_stream, "max_tokens": 100,
            "messages": [{ "role": "user", "content": "hello" }] });
        let answer = front.post("/v1/chat/completions", &key, &[], body.to_string().into_bytes()).await;
        assert_eq!(answer.status(), 200);
        let said = answer.text().await.unwrap();
        assert!(said.contains("hello") && said.contains("\"usage\""), "{said}");
    }
    let models = reqwest::Client::new().get(format!("http://{}/v1/models", front.address)).bearer_auth(&key);
    assert!(models.send().await.unwrap().text().await.unwrap().contains("echo"));
    front.stop().await;
    // "You said: hello" are four tokens, and a body of some hundred bytes some thirty.
    let cost = QUOTA - keymeter.remain(id).await;
    assert!((80..130).contains(&cost), "{cost}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_hold_that_is_charged_says_so_and_an_unknown_address_passes_nothing(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let upstream = upstream(HEAD.to_owned(), b"{}".to_vec(), Ending::Complete).await;
    let trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    let front =
        start(&keymeter, upstream, DoorOptions { trusted_proxies, ..DoorOptions::default() }, FrontOptions::default())
            .await;
    let (id, key) = keymeter.key(QUOTA).await;
    let body = json!({ "model": "m", "messages": [], "max_tokens": 100 }).to_string().into_bytes();
    for forwarded in ["garbage", "", "127.0.0.1, ::x"] {
        let headers = [("x-forwarded-for", forwarded)];
        let answer = front.post("/v1/chat/completions", &key, &headers, body.clone()).await;
        assert_eq!(answer.status(), 500, "{forwarded}");
    }
    let headers = [("x-forwarded-for", "203.0.113.5")];
    assert_eq!(front.post("/v1/chat/completions", &key, &headers, body).await.status(), 200);
    front.stop().await;
    let charge: (i64, Option<String>) =
        sqlx::query_as("select quota, hold_reason from charges").fetch_one(&pool).await.unwrap();
    assert_eq!(charge, (QUOTA - keymeter.remain(id).await, Some("invalid_usage".to_owned())));
}

/// A request that nobody bills has its place until its client has read the answer, so that clients who do not read
/// cannot take more than there are.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_free_request_has_a_place_as_long_as_its_answer_comes(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let upstream = upstream(HEAD.to_owned(), b"{".to_vec(), Ending::Silent).await;
    let max_requests = std::num::NonZeroUsize::MIN;
    let front =
        start(&keymeter, upstream, DoorOptions { max_requests, ..DoorOptions::default() }, FrontOptions::default())
            .await;
    let (_, key) = keymeter.key(QUOTA).await;
    let models = async || {
        let request = reqwest::Client::new().get(format!("http://{}/v1/models", front.address)).bearer_auth(&key);
        request.send().await.unwrap()
    };
    let mut first = models().await;
    while first.status() == 503 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        first = models().await;
    }
    assert_eq!(first.chunk().await.unwrap().unwrap(), "{");
    assert_eq!(models().await.status(), 503);
    drop(first);
    eventually("its place is free again", async || models().await.status() == 200).await;
    front.stop().await;
}
