//! Connections under hostile conditions and at the stop of the server: real sockets on the real program
//! (`docs/operations.md`).

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::harness::client::access_token_of_root;
use crate::harness::database::url;
use crate::harness::process::{free_port, keymeter};
use crate::harness::project::project_file;
use crate::harness::proxy::{self, Kind, Proxy, adapted, installed};
use crate::harness::raw::{TIMEOUT, assert_200, connect, fetch, get, next_answer, read_to_end, send, send_head};
use crate::harness::wait::eventually;
use crate::harness::{Client, MASTER_KEY, Server};

async fn exit_code(server: &mut Server) -> Option<i32> {
    eventually("the server exits", async || server.child.try_wait().unwrap().is_some()).await;
    server.child.wait().unwrap().code()
}

#[sqlx::test(migrations = false)]
async fn half_open_connections_do_not_block_others_and_are_closed(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("KEYMETER_SERVER__MAX_CONNECTIONS", "8"),
        ("KEYMETER_SERVER__HEADER_TIMEOUT_SECONDS", "2"),
    ];
    let server = Server::start(dir.path(), &settings).await;
    let mut half_open = Vec::new();
    for _ in 0..40 {
        half_open.push(send(&server, "GET /api/status HTTP/1.1\r\nhost: keys.test\r\n").await);
    }
    for path in ["/healthz", "/readyz", "/api/status"] {
        assert_200(fetch(&server, path).await);
    }
    for stream in half_open {
        assert_eq!(read_to_end(stream).await, b"");
    }
    assert_200(fetch(&server, "/api/status").await);
}

#[sqlx::test(migrations = false)]
async fn running_out_of_file_descriptors_does_not_stop_the_server(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let command = keymeter(dir.path(), &[("DATABASE_URL", &database)]);
    let mut few_files = Command::new("sh");
    few_files.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    few_files.args(["-c", "ulimit -n 160 && exec \"$0\" serve"]).arg(command.get_program());
    let mut server = Server::spawn(dir.path(), few_files).await;
    let mut half_open = Vec::new();
    for _ in 0..300 {
        half_open.push(send(&server, "GET /api/status HTTP/1.1\r\n").await);
    }
    for _ in 0..20 {
        for path in ["/healthz", "/readyz", "/api/status"] {
            assert_200(fetch(&server, path).await);
        }
    }
    server.logged(|line| line.contains("the limit of open files is too low for server.max_connections")).await;
    drop(half_open);
    assert_eq!(server.terminate(), Some(0));
}

#[sqlx::test(migrations = false)]
async fn beyond_the_limit_only_health_is_answered(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SERVER__MAX_CONNECTIONS", "2")];
    let server = Server::start(dir.path(), &settings).await;
    let access_token = access_token_of_root(&server).await;
    let body = r#"{"name":"in flight"}"#;
    let head = format!("POST /api/token/ HTTP/1.1\r\nauthorization: {access_token}\r\n");
    let mut busy = Vec::new();
    // The connection that asked for the access token may still be open for a moment.
    eventually("every slot is taken", async || {
        busy.extend(send_head(&server, &head, body.len()).await);
        busy.len() == 2
    })
    .await;
    let upload = "POST /api/user/login HTTP/1.1\r\nhost: keys.test\r\ncontent-length: 2\r\n\r\n{}";
    for request in [get("/api/status"), get("/"), get("/api/token/"), upload.to_owned()] {
        let mut stream = send(&server, &request).await;
        let refused = next_answer(&mut stream).await.unwrap();
        assert_eq!(refused.status(), 503, "{request}");
        assert_eq!(
            refused.json(),
            json!({
                "success": false,
                "message": "this server has too many connections; retry shortly",
                "error": "too_many_connections"
            })
        );
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_eq!(refused.header("x-error-code"), Some("too_many_connections"));
        assert_eq!(refused.header("content-type"), Some("application/json"));
        assert!(refused.has_connection_close());
        assert_eq!(read_to_end(stream).await, b"");
    }
    for path in ["/healthz", "/healthz/", "/readyz"] {
        assert!(assert_200(fetch(&server, path).await).has_connection_close());
    }
    for mut stream in busy {
        stream.write_all(body.as_bytes()).await.unwrap();
        assert_200(next_answer(&mut stream).await);
    }
    eventually("a slot is free again", async || fetch(&server, "/api/status").await.unwrap().status() == 200).await;
}

#[sqlx::test(migrations = false)]
async fn idle_connections_do_not_take_every_slot(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SERVER__MAX_CONNECTIONS", "8")];
    let server = Server::start(dir.path(), &settings).await;
    let mut kept = Vec::new();
    for _ in 0..20 {
        let mut stream = send(&server, &get("/api/status")).await;
        if assert_200(next_answer(&mut stream).await).has_connection_close() {
            assert_eq!(read_to_end(stream).await, b"");
        } else {
            kept.push(stream);
        }
    }
    assert_eq!(kept.len(), 6, "a quarter of the slots stays free");
    for stream in &mut kept {
        stream.write_all(get("/api/status").as_bytes()).await.unwrap();
        assert_200(next_answer(stream).await);
    }
}

#[sqlx::test(migrations = false)]
async fn a_connection_that_waits_too_long_is_closed(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("KEYMETER_SERVER__HEADER_TIMEOUT_SECONDS", "1"),
        ("KEYMETER_SERVER__IDLE_TIMEOUT_SECONDS", "1"),
        ("KEYMETER_SERVER__REQUEST_TIMEOUT_SECONDS", "1"),
    ];
    let server = Server::start(dir.path(), &settings).await;

    let silent = connect(&server).await;
    assert_eq!(read_to_end(silent).await, b"");

    let mut idle = send(&server, &get("/api/status")).await;
    assert!(!assert_200(next_answer(&mut idle).await).has_connection_close());
    assert_eq!(read_to_end(idle).await, b"");

    let mut second_head = send(&server, &get("/api/status")).await;
    assert_200(next_answer(&mut second_head).await);
    second_head.write_all(b"GET /api/status HTTP/1.1\r\n").await.unwrap();
    assert_eq!(read_to_end(second_head).await, b"");

    // Bytes that keep arriving do not extend the time limit.
    let mut slow_head = send(&server, "GET /api/status HTTP/1.1\r\nx: ").await;
    eventually("a head that arrives too slowly is cut off", async || slow_head.write_all(b"x").await.is_err()).await;

    let mut slow_body = send_head(&server, "POST /api/user/login HTTP/1.1\r\n", 1_000).await.unwrap();
    let (mut reading, mut writing) = slow_body.split();
    let trickle = async {
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let mut answer = Vec::new();
    let end = async {
        let _ = reading.read_to_end(&mut answer).await;
    };
    tokio::time::timeout(TIMEOUT, async { tokio::join!(trickle, end) })
        .await
        .expect("a body that arrives too slowly is cut off");
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains(r#""error":"timeout""#), "{answer}");

    // A client that does not read its answers.
    let mut not_reading = connect(&server).await;
    let requests = get("/api/openapi.json").repeat(1_000);
    let cut = async {
        loop {
            if not_reading.write_all(requests.as_bytes()).await.is_err() {
                return;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, cut).await.expect("a client that does not read is cut off");
}

#[sqlx::test(migrations = false)]
async fn a_head_that_is_too_large_is_answered_431(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[("DATABASE_URL", &url(&pool))]).await;
    let head = |headers: &str| format!("GET /api/status HTTP/1.1\r\nhost: keys.test\r\n{headers}\r\n");
    assert_200(next_answer(&mut send(&server, &head(&"x: y\r\n".repeat(90))).await).await);
    assert_200(next_answer(&mut send(&server, &head(&format!("x: {}\r\n", "y".repeat(24 * 1024)))).await).await);
    for headers in ["x: y\r\n".repeat(200), format!("x: {}\r\n", "y".repeat(40 * 1024))] {
        let mut stream = connect(&server).await;
        // The server may have answered before it has all of it.
        let _ = stream.write_all(head(&headers).as_bytes()).await;
        let refused = next_answer(&mut stream).await.unwrap();
        assert_eq!((refused.status(), refused.body.as_slice()), (431, &b""[..]), "{}", headers.len());
        assert!(refused.has_connection_close());
    }
}

#[sqlx::test(migrations = false)]
async fn a_connection_that_speaks_http_2_is_closed(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[("DATABASE_URL", &url(&pool))]).await;
    let stream = send(&server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert_eq!(read_to_end(stream).await, b"");
    assert_200(fetch(&server, "/healthz").await);
}

#[sqlx::test(migrations = false)]
async fn connections_without_a_request_do_not_delay_the_stop(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[("DATABASE_URL", &url(&pool))]).await;
    let silent = connect(&server).await;
    let half_open = send(&server, "GET /api/status HTTP/1.1\r\nhost: keys.test\r\n").await;
    let mut idle = send(&server, &get("/api/status")).await;
    assert_200(next_answer(&mut idle).await);
    let mut second_head = send(&server, &get("/api/status")).await;
    assert_200(next_answer(&mut second_head).await);
    second_head.write_all(b"GET").await.unwrap();
    let began = Instant::now();
    assert_eq!(server.terminate(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(15), "half of the drain time: {:?}", began.elapsed());
    for stream in [silent, half_open, idle, second_head] {
        assert_eq!(read_to_end(stream).await, b"");
    }
}

/// Clients that send one request after another on connections that they keep open until the server closes them.
struct Load {
    answered: Arc<AtomicUsize>,
    failures: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    clients: JoinSet<()>,
}

impl Load {
    fn start(address: &str, request: &str, clients: usize) -> Self {
        let load =
            Self { answered: Arc::default(), failures: Arc::default(), stop: Arc::default(), clients: JoinSet::new() };
        (0..clients).fold(load, |mut load, _| {
            let (answered, failures, stop) =
                (Arc::clone(&load.answered), Arc::clone(&load.failures), Arc::clone(&load.stop));
            let (address, request) = (address.to_owned(), request.to_owned());
            load.clients.spawn(async move {
                let mut kept = None;
                while !stop.load(Ordering::SeqCst) {
                    match Self::send_once(&address, &request, &mut kept).await {
                        Ok(()) => _ = answered.fetch_add(1, Ordering::SeqCst),
                        Err(failure) => failures.lock().unwrap().push(failure),
                    }
                }
            });
            load
        })
    }

    async fn send_once(address: &str, request: &str, kept: &mut Option<TcpStream>) -> Result<(), String> {
        let fresh = kept.is_none();
        let mut stream = match kept.take() {
            Some(stream) => stream,
            None => TcpStream::connect(address).await.map_err(|error| format!("not connected: {error}"))?,
        };
        stream.write_all(request.as_bytes()).await.map_err(|error| format!("not sent (fresh: {fresh}): {error}"))?;
        let answer = next_answer(&mut stream).await.ok_or_else(|| format!("not answered (fresh: {fresh})"))?;
        if answer.status() != 200 {
            return Err(answer.head);
        }
        if !answer.has_connection_close() {
            *kept = Some(stream);
        }
        Ok(())
    }

    /// Waits for this many more answers.
    async fn wait_for_answers(&self, answers: usize) {
        let enough = self.answered.load(Ordering::SeqCst) + answers;
        eventually("requests are answered", async || self.answered.load(Ordering::SeqCst) >= enough).await;
    }

    /// Stops the clients and asserts that every request was answered.
    async fn stop_and_check(self) {
        self.stop.store(true, Ordering::SeqCst);
        self.clients.join_all().await;
        assert_eq!(*self.failures.lock().unwrap(), Vec::<String>::new());
    }
}

#[sqlx::test(migrations = false)]
async fn a_stopping_server_is_not_ready_but_answers(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SERVER__STOP_DELAY_SECONDS", "5")];
    let mut server = Server::start(dir.path(), &settings).await;
    let mut kept = send(&server, &get("/api/status")).await;
    assert!(!assert_200(next_answer(&mut kept).await).has_connection_close());
    let load = Load::start(server.address(), &get("/api/status"), 16);
    load.wait_for_answers(100).await;
    server.signal("TERM");
    eventually("it is not ready", async || fetch(&server, "/readyz").await.unwrap().status() == 503).await;
    let refused = fetch(&server, "/readyz").await.unwrap();
    let stopping =
        json!({ "success": false, "message": "this server is stopping; use another one", "error": "stopping" });
    assert_eq!((refused.json(), refused.header("retry-after")), (stopping, Some("1")));
    load.wait_for_answers(100).await;
    kept.write_all(get("/api/status").as_bytes()).await.unwrap();
    assert!(assert_200(next_answer(&mut kept).await).has_connection_close());
    assert_eq!(read_to_end(kept).await, b"");
    load.stop_and_check().await;
    assert_eq!(exit_code(&mut server).await, Some(0));
}

/// All requests are sent before SIGTERM, and the server sees them and the signal at the same moment.
#[sqlx::test(migrations = false)]
async fn requests_sent_before_the_stop_are_answered(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    for _ in 0..6 {
        let mut server = Server::start(dir.path(), &[("DATABASE_URL", &database)]).await;
        let mut streams = Vec::new();
        for _ in 0..24 {
            let mut kept = send(&server, &get("/api/status")).await;
            assert_200(next_answer(&mut kept).await);
            streams.push(kept);
        }
        server.signal("STOP");
        for kept in &mut streams {
            kept.write_all(get("/api/status").as_bytes()).await.unwrap();
        }
        for _ in 0..24 {
            streams.push(send(&server, &get("/api/status")).await);
        }
        server.signal("TERM");
        server.signal("CONT");
        let mut lost = Vec::new();
        for (number, stream) in streams.iter_mut().enumerate() {
            if next_answer(stream).await.is_none_or(|answer| answer.status() != 200) {
                lost.push(number);
            }
        }
        assert_eq!(lost, Vec::<usize>::new());
        assert_eq!(exit_code(&mut server).await, Some(0));
    }
}

/// nginx with the configuration of `docs/operations.md`, but for its ports.
async fn nginx(dir: &Path, listen: u16, servers: &[u16; 3]) -> Proxy {
    let program = installed(Kind::Nginx);
    let page = project_file("docs/operations.md");
    let documented = page.split("```nginx\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let changes = [
        ("10.0.0.1:3000", format!("127.0.0.1:{}", servers[0])),
        ("10.0.0.2:3000", format!("127.0.0.1:{}", servers[1])),
        ("10.0.0.3:3000", format!("127.0.0.1:{}", servers[2])),
        ("listen 80;", format!("listen 127.0.0.1:{listen};")),
    ];
    let config = format!("events {{}}\nhttp {{\n{}}}\n", adapted(documented, &changes));
    let command = proxy::nginx(program, dir, &config);
    Proxy::start(command, dir, SocketAddr::from(([127, 0, 0, 1], listen))).await
}

#[sqlx::test(migrations = false)]
async fn a_rolling_restart_behind_nginx_fails_no_request(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let ports = [free_port(), free_port(), free_port()];
    let front = free_port();
    let _nginx = nginx(dir.path(), front, &ports).await;
    let database = url(&pool);
    let start = async |port: u16| {
        let home = dir.path().join(port.to_string());
        std::fs::create_dir_all(&home).unwrap();
        let listen = format!("127.0.0.1:{port}");
        let settings = [
            ("DATABASE_URL", database.as_str()),
            ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
            ("KEYMETER_SERVER__LISTEN", &listen),
            ("KEYMETER_SERVER__STOP_DELAY_SECONDS", "1"),
        ];
        Server::start(&home, &settings).await
    };
    let mut servers = Vec::new();
    for port in ports {
        servers.push(start(port).await);
    }
    let root = Client::root(&servers[0]).await;
    let (_, key) = root.creates(json!({ "name": "used", "unlimited_quota": true })).await.unwrap();
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let body = json!({ "key": key }).to_string();
    // nginx sends a POST again only if it was not sent yet.
    let request = format!(
        "POST /api/gateway/verify HTTP/1.1\r\nhost: keys.test\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n{body}",
        made["credential"].as_str().unwrap(),
        body.len()
    );
    let load = Load::start(&format!("127.0.0.1:{front}"), &request, 16);
    for _ in 0..2 {
        for (server, port) in servers.iter_mut().zip(ports) {
            load.wait_for_answers(200).await;
            server.signal("TERM");
            assert_eq!(exit_code(server).await, Some(0));
            load.wait_for_answers(100).await;
            *server = start(port).await;
            assert_200(fetch(server, "/readyz").await);
        }
    }
    load.wait_for_answers(200).await;
    load.stop_and_check().await;
}
