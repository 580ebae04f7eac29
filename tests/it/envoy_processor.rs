//! `keymeter-envoy` behind a real Envoy with `examples/envoy/metering.yaml`, and on a real Keymeter: what is refused,
//! charged, or nothing, by the cases of `crates/meter`; forty requests at once; and what happens when one of them
//! stops.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keymeter_door::settings::DoorOptions;
use keymeter_envoy::settings::{EnvoySettings, OnSilence, default_options};
use keymeter_envoy::{check, server};
use serde_json::json;
use sqlx::PgPool;
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;

use crate::harness::metering::{
    Case, Ending, Keymeter, Planned, QUOTA, RunningDoor, cases, planned_upstream, read_request, upstream,
};
use crate::harness::process::free_port;
use crate::harness::project::project_file;
use crate::harness::proxy::{Kind, Proxy, adapted, installed};
use crate::harness::wait::eventually;

/// A processor that listens here, and stops without a delay.
async fn processor(keymeter: &Keymeter, door: DoorOptions) -> RunningDoor {
    let settings = EnvoySettings {
        door: keymeter.door(door),
        listen: "127.0.0.1:0".to_owned(),
        on_silence: OnSilence::Charge,
        pass_headers: Vec::new(),
        stop_delay: Duration::ZERO,
    };
    let ((started, address), (stop, stopped)) = (oneshot::channel(), oneshot::channel::<()>());
    let task = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        let started = |address: &str| started.send(address.parse().unwrap()).unwrap();
        server::run(&settings, started, stopped, std::future::pending()).await.unwrap();
    });
    RunningDoor { address: address.await.unwrap(), stop, task }
}

fn free_address() -> SocketAddr {
    ([127, 0, 0, 1], free_port()).into()
}

/// Parts of a file, and what stands there instead.
type Changes = &'static [(&'static str, &'static str)];

/// A running Envoy with `examples/envoy/metering.yaml`, other addresses, and these changes.
struct Envoy {
    listen: SocketAddr,
    admin: SocketAddr,
    _proxy: Proxy,
}

impl Envoy {
    async fn start(dir: &Path, processor: SocketAddr, upstream: SocketAddr, changes: &[(&str, &str)]) -> Self {
        let (listen, admin) = (free_address(), free_address());
        let port = |address: SocketAddr| format!("port_value: {}", address.port());
        let mut all: Vec<_> = changes.iter().map(|(old, new)| (*old, (*new).to_owned())).collect();
        all.extend([
            ("port_value: 8080", port(listen)),
            ("port_value: 9901", port(admin)),
            ("port_value: 13050", port(processor)),
            ("port_value: 9000", port(upstream)),
        ]);
        let config = dir.join(format!("{}.yaml", listen.port()));
        std::fs::write(&config, adapted(&project_file("examples/envoy/metering.yaml"), &all)).unwrap();
        let mut command = Command::new(installed(Kind::Envoy));
        command.args(["--disable-hot-restart", "--concurrency", "1", "--log-level", "warn", "-c"]).arg(config);
        Self { listen, admin, _proxy: Proxy::start(command, dir, listen).await }
    }

    /// As a door that is stopped with its processor.
    fn door(&self) -> RunningDoor {
        RunningDoor { address: self.listen, stop: oneshot::channel().0, task: tokio::spawn(async {}) }
    }
}

/// Bodies in both directions in pieces that are sent on as they are replied.
const FULL_DUPLEX: Changes = &[
    ("request_body_mode: BUFFERED", "request_body_mode: FULL_DUPLEX_STREAMED"),
    ("response_body_mode: STREAMED", "response_body_mode: FULL_DUPLEX_STREAMED"),
];

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_case_of_the_meter_is_refused_or_charged_as_it_says(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let planned = Arc::new(Mutex::new(Planned { head: String::new(), body: Vec::new(), ending: Ending::Complete }));
    let upstream = planned_upstream(Arc::clone(&planned)).await;
    let mut by_settings: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    // That the upstream is too slow is Envoy's to find.
    for case in cases().into_iter().filter(|case| case.end() != "given_up") {
        by_settings.entry(case.settings().to_string()).or_default().push(case);
    }
    for (settings, cases) in by_settings {
        let meter = serde_json::from_str(&settings).unwrap();
        let processor = processor(&keymeter, DoorOptions { meter, ..default_options() }).await;
        for changes in [&[], FULL_DUPLEX] {
            let envoy = Envoy::start(dir.path(), processor.address, upstream, changes).await;
            let door = envoy.door();
            for case in &cases {
                *planned.lock().unwrap() = case.planned();
                let (id, key) = keymeter.key(QUOTA).await;
                drop(case.send(&door, &key).await);
                let charge = case.charge(&keymeter).await;
                let charged = format!("{} is charged {charge}", case.name);
                eventually(&charged, async || open(&pool).await == 0 && keymeter.remain(id).await == QUOTA - charge)
                    .await;
            }
        }
        processor.stop().await;
    }
}

/// The reservations that have not ended.
async fn open(pool: &PgPool) -> i64 {
    let count = "select count(*) from reservations where state = 'open'";
    sqlx::query_scalar(count).fetch_one(pool).await.unwrap()
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forty_at_once_with_quota_for_five(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }], "max_tokens": 100 });
    let bytes = body.to_string().len();
    let usage = json!({ "prompt_tokens": bytes.div_ceil(3), "completion_tokens": 100 });
    let upstream =
        upstream(HEAD.to_owned(), json!({ "usage": usage }).to_string().into_bytes(), Ending::Complete).await;
    let processor = processor(&keymeter, default_options()).await;
    let envoy = Envoy::start(dir.path(), processor.address, upstream, &[]).await;
    let door = envoy.door();
    let units = json!({ "input_tokens": bytes.div_ceil(3), "output_tokens": 100 });
    let (cost, hold) = keymeter.cost(&units, &json!({})).await;
    let (id, key) = keymeter.key(5 * hold).await;
    let posts = (0..40).map(|_| door.post("/v1/chat/completions", &key, &[], body.to_string().into_bytes()));
    let mut statuses: Vec<u16> =
        futures_util::future::join_all(posts).await.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 5].as_slice(), &[402; 35]].concat());
    processor.stop().await;
    assert_eq!(keymeter.remain(id).await, 5 * (hold - cost));
}

/// What a request of the tests below costs, and its body.
fn request(is_stream: bool) -> Vec<u8> {
    json!({ "model": "m", "messages": [], "max_tokens": 100, "stream": is_stream }).to_string().into_bytes()
}

/// 150 quota units, by the prices of the tests.
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":10}}\n\n";
const COST: i64 = 150;

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_usual_configuration_of_envoy_is_found_good_and_each_fault_is_named(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let processor = processor(&keymeter, default_options()).await;
    let table: [(Changes, &[&str]); 18] = [
        (&[], &[]),
        (FULL_DUPLEX, &[]),
        (
            &[(
                "- name: envoy.filters.http.ext_proc",
                "- name: envoy.filters.http.ext_proc\n                    disabled: true",
            )],
            &["the ext_proc filter is disabled, and it does not enable it"],
        ),
        (&[("failure_mode_allow: false", "failure_mode_allow: true")], &["failure_mode_allow lets requests pass"]),
        (&[("use_remote_address: true", "use_remote_address: false")], &["use_remote_address is off"]),
        (&[("response_body_mode: STREAMED", "response_body_mode: BUFFERED")], &["response_body_mode must be STREAMED"]),
        (&[("message_timeout: 5s", "message_timeout: 0.2s")], &["message_timeout is too short"]),
        (&[("per_connection_buffer_limit_bytes: 33554432", "drain_type: DEFAULT")], &["per_connection_buffer_limit"]),
        (&[("request_attributes: [source.address]", "request_attributes: []")], &["has no source.address"]),
        (&[("max_requests: 100000", "max_requests: 100")], &["it takes 100 requests at once"]),
        (&[("request_trailer_mode: SEND", "request_trailer_mode: SKIP")], &["request_trailer_mode must be SEND"]),
        (
            &[("metadata_options:", "mutation_rules: { disallow_all: true }\n                      metadata_options:")],
            &["mutation_rules"],
        ),
        (
            &[(
                "metadata_options:",
                "forward_rules: { allowed_headers: { patterns: [{ exact: authorization }] } }\n                      metadata_options:",
            )],
            &["forward_rules"],
        ),
        (
            &[(
                "use_remote_address: true",
                "use_remote_address: true\n                upgrade_configs: [{ upgrade_type: websocket }]",
            )],
            &["upgrade_configs"],
        ),
        (
            &[(
                "route: { cluster: api, timeout: 3600s }",
                "route: { cluster: api, timeout: 3600s, internal_redirect_policy: {} }",
            )],
            &["internal_redirect_policy"],
        ),
        (&[("no_traffic_interval: 0.5s", "no_traffic_interval: 60s")], &["no_traffic_interval is 60s"]),
        (
            &[(
                "timeout: 3600s }\n                http",
                "timeout: 3600s, retry_policy: { retry_on: 5xx } }\n                http",
            )],
            &["retry_policy repeats requests"],
        ),
        (
            &[(
                "route: { cluster: api, timeout: 3600s }",
                "route: { cluster: api, timeout: 3600s }\n                          typed_per_filter_config:\n                 \
                 \x20          envoy.filters.http.ext_proc:\n                              \"@type\": \
                 type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute\n                       \
                 \x20      disabled: true",
            )],
            &["it disables the ext_proc filter"],
        ),
    ];
    for (changes, expected) in table {
        let envoy = Envoy::start(dir.path(), processor.address, free_address(), changes).await;
        let dump = reqwest::get(format!("http://{}/config_dump", envoy.admin)).await.unwrap().json().await.unwrap();
        let found: Vec<String> = check::examine(&dump).unwrap().iter().map(ToString::to_string).collect();
        let is_found = |says: &&&str| found.iter().any(|finding| finding.contains(**says));
        assert!(
            found.len() == expected.len() && expected.iter().all(|says| is_found(&says)),
            "{changes:?}: {found:#?}"
        );
    }
    processor.stop().await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_api_gets_its_own_key_and_no_header_that_was_not_checked(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    let received = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let received = read_request(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
        received
    });
    let processor = processor(&keymeter, default_options()).await;
    let envoy = Envoy::start(dir.path(), processor.address, upstream, &[]).await;
    let (_, key) = keymeter.key(QUOTA).await;
    let sent = [
        ("accept-encoding", "gzip"),
        ("x-api-key", "another"),
        ("x-portkey-custom-host", "https://example.org"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("anthropic-version", "2023-06-01"),
    ];
    let answer = envoy.door().post("/v1/messages?beta=true&a=b", &key, &sent, request(false)).await;
    assert_eq!(answer.status(), 200);
    let received = received.await.unwrap().to_lowercase();
    assert!(received.starts_with("post /v1/messages?beta=true http/1.1\r\n"), "{received}");
    for passed in ["authorization: bearer put-the-key-of-the-api-here", "traceparent: ", "anthropic-version: "] {
        assert!(received.contains(&format!("\r\n{passed}")), "{passed}: {received}");
    }
    for removed in [key.to_lowercase().as_str(), "another", "gzip", "portkey"] {
        assert!(!received.contains(removed), "{removed}: {received}");
    }
    processor.stop().await;
}

/// The log of the program that listens there.
fn log(dir: &Path, listen: SocketAddr) -> File {
    File::options().create(true).append(true).open(log_path(dir, listen)).unwrap()
}

fn log_path(dir: &Path, listen: SocketAddr) -> PathBuf {
    dir.join(format!("processor-{}.log", listen.port()))
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn no_key_prompt_or_answer_is_in_the_log(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let answer = json!({ "choices": [{ "message": { "content": "a secret answer" } }] }).to_string();
    let upstream = upstream(HEAD.to_owned(), answer.into_bytes(), Ending::Complete).await;
    let listen = free_address();
    let program = Program::start(&keymeter, dir.path(), listen).await;
    let envoy = Envoy::start(dir.path(), listen, upstream, &[]).await;
    let (_, key) = keymeter.key(QUOTA).await;
    for (key, model, expected) in [(key.as_str(), "m", 200), (&key, "", 400), ("sk-not-a-key", "m", 401)] {
        let body = json!({ "model": model, "messages": [{ "role": "user", "content": "a secret prompt" }] });
        let body = body.to_string().into_bytes();
        assert_eq!(envoy.door().post("/v1/chat/completions", key, &[], body).await.status(), expected);
    }
    program.signal("-TERM");
    program.ended().await;
    let log = std::fs::read_to_string(log_path(dir.path(), listen)).unwrap();
    assert!(log.contains("a request has ended"), "{log}");
    for secret in [&key, &keymeter.credential, "sk-not-a-key", "a secret prompt", "a secret answer"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

/// The real program, which can be killed.
struct Program(Child);

impl Program {
    async fn start(keymeter: &Keymeter, dir: &Path, listen: SocketAddr) -> Self {
        let door = keymeter.door(default_options());
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_keymeter")).with_file_name("keymeter-envoy"));
        command.arg(format!("--listen={listen}")).arg(format!("--url={}", door.url));
        command.env("KEYMETER_CREDENTIAL", &keymeter.credential).arg("--log-filter=debug").stderr(log(dir, listen));
        let mut program = Self(command.spawn().expect("`cargo test --workspace` builds it"));
        eventually("it serves", async || {
            assert!(program.0.try_wait().unwrap().is_none(), "it ended");
            tokio::net::TcpStream::connect(listen).await.is_ok()
        })
        .await;
        program
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").arg(signal).arg(self.0.id().to_string()).status().unwrap().success());
    }

    /// Waits until it has ended.
    async fn ended(mut self) {
        eventually("it ends", async || self.0.try_wait().unwrap().is_some()).await;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_killed_processor_lets_nothing_pass_and_what_it_held_is_charged(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let (_, key) = keymeter.key(QUOTA).await;
    let first = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".to_vec();
    // Killed before there is an answer, and when it has begun.
    for (held, body) in [(1, Vec::new()), (2, first)] {
        let has_begun = !body.is_empty();
        let upstream = if has_begun {
            upstream("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n".to_owned(), body, Ending::Silent).await
        } else {
            silent_upstream().await
        };
        let listen = free_address();
        let program = Program::start(&keymeter, dir.path(), listen).await;
        let envoy = Envoy::start(dir.path(), listen, upstream, &[]).await;
        let door = Arc::new(envoy.door());
        let asked = {
            let (door, key) = (Arc::clone(&door), key.clone());
            tokio::spawn(async move { door.post("/v1/chat/completions", &key, &[], request(true)).await })
        };
        eventually("it is held", async || open(&pool).await == held).await;
        let mut answered = if has_begun { Some(asked.await.unwrap()) } else { None };
        program.signal("-KILL");
        program.ended().await;
        match &mut answered {
            None => assert_eq!(tokio::time::timeout(LONG, reached(&door, &key)).await.unwrap(), 500),
            Some(answer) => {
                // The client does not take what it has for the whole answer.
                assert!(answer.chunk().await.unwrap().is_some());
                assert!(answer.chunk().await.is_err());
            }
        }
        // Without a processor nothing passes.
        assert_eq!(reached(&door, &key).await, 500);
    }
    let expiry = "select count(*) from reservations where state = 'open' and charge_on_expiry";
    assert_eq!(sqlx::query_scalar::<_, i64>(expiry).fetch_one(&pool).await.unwrap(), 2);
}

const LONG: Duration = Duration::from_secs(20);

/// The status of a request whose answer is read to its end.
async fn reached(door: &RunningDoor, key: &str) -> u16 {
    let answer = door.post("/v1/chat/completions", key, &[], request(false)).await;
    let status = answer.status().as_u16();
    answer.bytes().await.unwrap_or_else(|error| panic!("{status}: {error}"));
    status
}

/// An upstream that takes a request and answers nothing.
async fn silent_upstream() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut taken = Vec::new();
        loop {
            taken.push(listener.accept().await.unwrap());
        }
    });
    address
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn processors_that_restart_in_turn_fail_no_request(pool: PgPool) {
    let keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let upstream = upstream(HEAD.to_owned(), whole_answer(), Ending::Complete).await;
    let addresses = [free_address(), free_address()];
    let mut programs = Vec::new();
    for address in addresses {
        programs.push(Program::start(&keymeter, dir.path(), address).await);
    }
    let endpoint = "- endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 13050 } } }";
    let second = format!(
        "{endpoint}\n              - endpoint: {{ address: {{ socket_address: {{ address: 127.0.0.1, port_value: {} }} }} }}",
        addresses[1].port()
    );
    let envoy = Envoy::start(dir.path(), addresses[0], upstream, &[(endpoint, &second)]).await;
    let door = Arc::new(envoy.door());
    let (id, key) = keymeter.key(QUOTA).await;
    eventually("both serve", async || reached(&door, &key).await == 200).await;
    let ended = Arc::new(AtomicBool::new(false));
    let callers = (0..4).map(|_| {
        let (door, key, ended) = (Arc::clone(&door), key.clone(), Arc::clone(&ended));
        tokio::spawn(async move {
            let mut statuses = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                statuses.push(reached(&door, &key).await);
            }
            statuses
        })
    });
    let callers: Vec<_> = callers.collect();
    let mut restarted = Vec::new();
    for (address, program) in addresses.into_iter().zip(programs) {
        program.signal("-TERM");
        program.ended().await;
        let program = Program::start(&keymeter, dir.path(), address).await;
        // Until it knows how answers are read, and Envoy knows that it serves.
        tokio::time::sleep(Duration::from_secs(2)).await;
        restarted.push(program);
    }
    ended.store(true, Ordering::Relaxed);
    let statuses = futures_util::future::join_all(callers).await.into_iter().flat_map(Result::unwrap);
    let statuses: Vec<u16> = statuses.collect();
    assert!(statuses.len() > 100 && statuses.iter().all(|status| *status == 200), "{statuses:?}");
    let passed = i64::try_from(statuses.len()).unwrap() + 1;
    eventually("all have ended", async || open(&pool).await == 0).await;
    let charges: Vec<(i64, Option<String>, i64)> =
        sqlx::query_as("select quota, hold_reason, count(*) from charges group by 1, 2")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(charges, [(COST, None, passed)]);
    assert_eq!(keymeter.remain(id).await, QUOTA - passed * COST);
}

fn whole_answer() -> Vec<u8> {
    json!({ "usage": { "prompt_tokens": 100, "completion_tokens": 10 } }).to_string().into_bytes()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_ended_while_keymeter_was_away_is_charged_once_when_it_is_back(pool: PgPool) {
    let mut keymeter = Keymeter::start(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let (go, gone) = oneshot::channel::<()>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: begun\n\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        gone.await.unwrap();
        stream.write_all(USAGE.as_bytes()).await.unwrap();
    });
    let processor = processor(&keymeter, default_options()).await;
    let envoy = Envoy::start(dir.path(), processor.address, upstream, &[]).await;
    let door = envoy.door();
    let (id, key) = keymeter.key(QUOTA).await;
    let answer = door.post("/v1/chat/completions", &key, &[], request(true)).await;
    keymeter.server.kill();
    let refused = reqwest::Client::new().post(format!("http://{}/v1/chat/completions", envoy.listen));
    let refused = refused.bearer_auth(&key).body(request(false)).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"2".parse().unwrap()));
    assert!(refused.text().await.unwrap().contains("keymeter_unavailable"));
    go.send(()).unwrap();
    assert!(answer.text().await.unwrap().contains("completion_tokens"));
    // Some tries fail meanwhile.
    tokio::time::sleep(Duration::from_secs(2)).await;
    keymeter.restart().await;
    eventually("it is charged", async || keymeter.remain(id).await == QUOTA - COST).await;
    processor.stop().await;
    assert_eq!((keymeter.remain(id).await, open(&pool).await), (QUOTA - COST, 0));
}
