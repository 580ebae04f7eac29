//! Spec §7.3: what strangers send is small, and is not read where it cannot matter.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http::{Method, header};
use http_body_util::BodyExt as _;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::{Answer, Caller, Server, TestApp, raw};
use crate::routes::operations;

const LOGIN: &str = "/api/user/login";
const REGISTER: &str = "/api/user/register";
const KIB: usize = 1024;

/// A body in pieces of 1 KiB, as chunked transfer sends it. Counts the bytes that were read of it.
struct Pieces {
    left: usize,
    read: Arc<AtomicUsize>,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        let size = self.left.min(KIB);
        if size == 0 {
            return Poll::Ready(None);
        }
        self.left -= size;
        self.read.fetch_add(size, Ordering::SeqCst);
        Poll::Ready(Some(Ok(hyper::body::Frame::data(Bytes::from(vec![b' '; size])))))
    }
}

/// Sends `size` bytes, which `announced` says in `Content-Length`. Returns the answer and how many of them were read.
async fn send(caller: &Caller, method: Method, path: &str, size: usize, announced: bool) -> (Answer, usize) {
    let read = Arc::new(AtomicUsize::new(0));
    let mut request = caller.request(method, path);
    *request.body_mut() = Body::new(Pieces { left: size, read: Arc::clone(&read) }.boxed_unsync());
    if announced {
        request.headers_mut().insert(header::CONTENT_LENGTH, size.into());
    }
    let answer = caller.send(request).await;
    (answer, read.load(Ordering::SeqCst))
}

async fn open(pool: PgPool, limit: &str) -> TestApp {
    let settings = [
        ("KEYMETER_ACCOUNTS__REGISTRATION", "open"),
        ("KEYMETER_LIMITS__LOGIN_PER_MINUTE", limit),
        ("KEYMETER_LIMITS__REGISTER_PER_MINUTE", limit),
    ];
    TestApp::with(pool, &settings).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_body_of_a_sign_in_or_a_registration_may_have_at_most_8_kib(pool: PgPool) {
    let app = open(pool, "0").await;
    for path in [LOGIN, REGISTER] {
        let account = json!({ "username": "ana", "password": "ana's password" }).to_string();
        for size in [8 * KIB, 8 * KIB + 1] {
            let mut request = app.stranger().request(Method::POST, path);
            *request.body_mut() = Body::from(format!("{account}{}", " ".repeat(size - account.len())));
            let answer = app.stranger().send(request).await;
            match (size, path) {
                (8192, LOGIN) => answer.refuses(401, "wrong_credentials"),
                (8192, _) => assert_eq!(answer.status, 200),
                _ => answer.refuses_saying(413, "body_too_large", "the body is larger than 8 KiB"),
            }
        }
        for size in [8 * KIB + 1, 3 * KIB * KIB, 3 * KIB * KIB * KIB] {
            let (answer, read) = send(&app.stranger(), Method::POST, path, size, true).await;
            answer.refuses_saying(413, "body_too_large", "the body is larger than 8 KiB");
            assert_eq!(read, 0, "{path}: a body of {size} bytes is refused by its header");
            let (answer, read) = send(&app.stranger(), Method::POST, path, size, false).await;
            answer.refuses_saying(413, "body_too_large", "the body is larger than 8 KiB");
            assert!(read <= 9 * KIB, "{path}: {read} of {size} bytes were read");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_limits_of_an_address_are_looked_at_before_the_body(pool: PgPool) {
    let app = open(pool.clone(), "1").await;
    // Three sign-ins and one registration; those with an invalid body count.
    for (path, allowed) in [(LOGIN, 3), (REGISTER, 1)] {
        for _ in 0..allowed {
            let (answer, read) = send(&app.stranger(), Method::POST, path, KIB, false).await;
            answer.refuses_saying(400, "invalid_json", "send a JSON object as the body");
            assert_eq!(read, KIB);
        }
        for (size, announced) in [(1, true), (KIB, false), (3 * KIB * KIB, true), (3 * KIB * KIB, false)] {
            let (answer, read) = send(&app.stranger(), Method::POST, path, size, announced).await;
            let (wait, seconds) = if path == LOGIN { ("20 s", "20") } else { ("1 min", "60") };
            answer.refuses_saying(429, "rate_limited", &format!("too many requests; try again in {wait}"));
            assert_eq!((answer.header("retry-after"), read), (Some(seconds), 0), "{path}");
        }
    }
    let closed = TestApp::new(pool).await;
    let (answer, read) = send(&closed.stranger(), Method::POST, REGISTER, KIB, false).await;
    answer.refuses_saying(403, "registration_closed", "registration is closed; ask your administrator for an account");
    assert_eq!(read, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn no_other_call_reads_the_body_of_a_stranger(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut calls: Vec<(Method, String)> = Vec::new();
    for operation in operations(&app).await {
        calls.push((operation.method, operation.path.replace("{id}", "9").replace("{cid}", "9")));
    }
    let others = ["/", "/api/nothing", "/v1/chat/completions", "/api/gateway/auth/v1/chat/completions", "/index.html"];
    calls.extend(others.map(|path| (Method::POST, path.to_owned())));
    assert!(calls.len() > 70);
    for (method, path) in calls {
        if [LOGIN, REGISTER].contains(&&*path) {
            continue;
        }
        for announced in [true, false] {
            let (answer, read) = send(&app.stranger(), method.clone(), &path, 3 * KIB * KIB, announced).await;
            assert_eq!(read, 0, "{method} {path} answered {}", answer.status);
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_body_whose_length_is_too_large_is_refused_unread_for_known_callers_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for path in ["/api/token/", "/api/token/batch", "/api/user/access_tokens"] {
        let (answer, read) = send(&ana, Method::POST, path, KIB * KIB + 1, true).await;
        answer.refuses_saying(413, "body_too_large", "the body is larger than 1 MiB");
        assert_eq!(read, 0);
        let (answer, read) = send(&ana, Method::POST, path, 3 * KIB * KIB, false).await;
        answer.refuses_saying(413, "body_too_large", "the body is larger than 1 MiB");
        assert!(read <= KIB * KIB + KIB);
    }
}

/// Over a real connection: the client that waits for `100 Continue` is answered without it.
#[sqlx::test(migrations = false)]
async fn a_real_server_refuses_a_large_sign_in_by_its_head(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[("DATABASE_URL", &url(&pool))]).await;
    let head =
        format!("POST {LOGIN} HTTP/1.1\r\nhost: keys.test\r\nexpect: 100-continue\r\ncontent-length: 3145728\r\n\r\n");
    let mut stream = raw::send(&server, &head).await;
    let answer = raw::next_answer(&mut stream).await.unwrap();
    assert_eq!((answer.status(), answer.json()["error"].as_str()), (413, Some("body_too_large")));
}
