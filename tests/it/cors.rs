//! Specification §14.1: web pages of any origin may call what takes only an API key, and nothing else.

use axum::body::Body;
use http::{HeaderValue, Method, header};
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{Answer, Caller, TestApp};
use crate::routes::operations;

/// Public, and tools of this API family read the unit of quotas from it.
const STATUS: &str = "GET /api/status";

/// Calls as a page of another origin.
async fn from_a_page(caller: &Caller, method: Method, path: &str, headers: &[(header::HeaderName, &str)]) -> Answer {
    let mut request = caller.request(method, path);
    *request.body_mut() = Body::empty();
    request.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("https://tool.example"));
    for (name, value) in headers {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    caller.send(request).await
}

async fn preflight(app: &TestApp, path: &str) -> Answer {
    let headers = [
        (header::ACCESS_CONTROL_REQUEST_METHOD, "GET"),
        (header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization,x-requested-with"),
    ];
    from_a_page(&app.stranger(), Method::OPTIONS, path, &headers).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_of_any_origin_may_call_what_takes_only_an_api_key(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut open = 0;
    for operation in operations(&app).await {
        let name = format!("{} {}", operation.method, operation.path);
        let path = operation.path.replace("{id}", "1").replace("{cid}", "1");
        let is_open = operation.permissions.contains("key_holder") || name == STATUS;
        let asked = preflight(&app, &path).await;
        let answer = from_a_page(&app.stranger(), operation.method, &path, &[]).await;
        if is_open {
            open += 1;
            assert_eq!(asked.status, 200, "{name}");
            assert_eq!(asked.header("access-control-allow-origin"), Some("*"), "{name}");
            assert_eq!(asked.header("access-control-allow-methods"), Some("GET"), "{name}");
            assert_eq!(asked.header("access-control-allow-headers"), Some("authorization,x-requested-with"), "{name}");
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{name}");
        } else {
            for answer in [&asked, &answer] {
                assert_eq!(answer.header("access-control-allow-origin"), None, "{name}");
            }
            // Envoy asks with the method of the client.
            assert_eq!(asked.status, if path == "/api/gateway/auth" { 401 } else { 405 }, "{name}");
        }
        for answer in [asked, answer] {
            assert_eq!(answer.header("access-control-allow-credentials"), None, "{name}");
        }
    }
    assert_eq!(open, 12);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_can_read_answers_and_refusals(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__DROP_IN_PER_MINUTE", "1")]).await;
    let ana = app.enabled_user("ana").await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500_000 })).await;
    let holder = app.holder_of(&key);
    let path = "/v1/dashboard/billing/subscription";
    for (caller, path, status) in [
        (&holder, path, 200),
        (&holder, path, 429),
        (&app.stranger(), path, 401),
        (&app.stranger(), "/v1/nothing", 404),
    ] {
        let answer = from_a_page(caller, Method::GET, path, &[]).await;
        let exposed = answer.header("access-control-expose-headers");
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (status, Some("*")));
        assert_eq!(exposed, Some("retry-after,x-error-code,x-request-id"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_options_request_that_is_no_preflight_is_an_unknown_method(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let answer = from_a_page(&app.stranger(), Method::OPTIONS, "/api/usage/token/", &[]).await;
    answer.refuses(405, "method_not_allowed");
}
