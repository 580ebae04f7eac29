//! Spec §5: every operation of the OpenAPI document requires exactly the permission that it declares.

use std::collections::BTreeSet;

use axum::body::Body;
use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, TestApp};

/// Operations that anyone may call. All others must declare a permission.
const PUBLIC: [&str; 9] = [
    "GET /api/openapi.json",
    "GET /api/status",
    "GET /api/user/logout",
    "GET /healthz",
    "GET /metrics",
    "GET /readyz",
    "POST /api/user/login",
    "POST /api/user/logout",
    "POST /api/user/register",
];

/// The refusals of callers without the permission.
const BARRED: [&str; 6] = [
    "not_signed_in",
    "invalid_credential",
    "invalid_key",
    "token_api_not_enabled",
    "not_an_administrator",
    "user_mismatch",
];

pub struct Operation {
    pub method: Method,
    pub path: String,
    /// The scopes of its credentials; empty where anyone may call it.
    pub permissions: BTreeSet<String>,
    credentials: BTreeSet<String>,
}

impl Operation {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Calls it with ids that do not exist and an empty object, in this slash form.
    async fn called_by(&self, caller: &Caller, slash: bool) -> Answer {
        let path = self.path.replace("{id}", "999999").replace("{cid}", "999999");
        let path = format!("{}{}", path.trim_end_matches('/'), if slash { "/" } else { "" });
        let mut request = caller.request(self.method.clone(), &path);
        *request.body_mut() = Body::from("{}");
        caller.send(request).await
    }
}

pub async fn operations(app: &TestApp) -> Vec<Operation> {
    let document = app.stranger().get("/api/openapi.json").await.json();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
            if !operation.is_object() {
                continue;
            }
            let needs: Vec<Value> = operation["security"].as_array().cloned().unwrap_or_default();
            let named = needs.iter().flat_map(|need| need.as_object().unwrap());
            let (mut permissions, mut credentials) = (BTreeSet::new(), BTreeSet::new());
            for (credential, scopes) in named {
                credentials.insert(credential.clone());
                permissions.extend(scopes.as_array().unwrap().iter().map(|scope| scope.as_str().unwrap().to_owned()));
            }
            found.push(Operation { method, path: path.clone(), permissions, credentials });
        }
    }
    found
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_operation_declares_a_permission_unless_it_is_public(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let all = operations(&app).await;
    let open: Vec<_> = all.iter().filter(|operation| operation.permissions.is_empty()).map(Operation::name).collect();
    assert_eq!(open.iter().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(PUBLIC));
    for operation in all.iter().filter(|operation| !operation.permissions.is_empty()) {
        assert_eq!(operation.permissions.len(), 1, "{}", operation.name());
        let session_or_token = BTreeSet::from(["access_token".to_owned(), "session".to_owned()]);
        match operation.permissions.first().unwrap().as_str() {
            "signed_in" | "api_user" | "admin" => assert_eq!(operation.credentials, session_or_token),
            "key_holder" => assert_eq!(operation.credentials, BTreeSet::from(["api_key".to_owned()])),
            "gateway" if operation.path == "/api/gateway/auth" => {
                let both = BTreeSet::from(["api_key".to_owned(), "gateway_in_front".to_owned()]);
                assert_eq!(operation.credentials, both);
            }
            "gateway" => assert_eq!(operation.credentials, BTreeSet::from(["gateway".to_owned()])),
            other => panic!("{}: {other} is not handled by this test", operation.name()),
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn operation_ids_are_unique(pool: PgPool) {
    let document = TestApp::new(pool).await.stranger().get("/api/openapi.json").await.json();
    let mut ids: Vec<&str> = Vec::new();
    for item in document["paths"].as_object().unwrap().values() {
        ids.extend(item.as_object().unwrap().values().filter_map(|operation| operation["operationId"].as_str()));
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(all > 40 && ids.len() == all, "{ids:?}");
}

#[test]
fn the_document_of_the_dashboard_is_current() {
    let document = include_str!("../../dashboard/openapi.json");
    assert!(
        document.trim() == keymeter::app::openapi_json().trim(),
        "run `make openapi`, then `npm run build` in dashboard/"
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_endpoint_of_the_spec_is_in_the_document(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let all = operations(&app).await;
    let permission = |name: &str| {
        let operation = all.iter().find(|operation| operation.name() == name);
        operation.unwrap_or_else(|| panic!("{name} is missing")).permissions.first().unwrap().clone()
    };
    for name in [
        "GET /api/token/",
        "GET /api/token/search",
        "GET /api/token/{id}",
        "POST /api/token/",
        "PUT /api/token/",
        "DELETE /api/token/{id}",
        "POST /api/token/batch",
        "GET /api/token/{id}/usage",
    ] {
        assert_eq!(permission(name), "api_user", "{name}");
    }
    assert_eq!(permission("GET /api/usage/token/"), "key_holder");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_declared_permission_is_the_one_that_is_required(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (stranger, user, enabled, admin) =
        (app.stranger(), app.user("ana").await, app.enabled_user("ben").await, app.admin("carla").await);
    let holder = app.holder_of(&enabled.creates_with_key(json!({ "name": "one" })).await.1);
    let gateway = app.gateway().await;
    let callers = [
        ("stranger", &stranger),
        ("user", &user),
        ("enabled", &enabled),
        ("admin", &admin),
        ("holder", &holder),
        ("gateway", &gateway),
    ];
    for operation in operations(&app).await {
        let permission = operation.permissions.first().map_or("none", String::as_str);
        for (kind, caller) in callers {
            let expected = match (permission, kind) {
                ("none", _) => None,
                ("key_holder", "holder") => None,
                ("key_holder", _) => Some((401, "invalid_key")),
                // Forward-auth takes the credential from another header.
                ("gateway", "gateway") if operation.path != "/api/gateway/auth" => None,
                ("gateway", _) => Some((401, "invalid_gateway")),
                (_, "stranger") => Some((401, "not_signed_in")),
                (_, "holder" | "gateway") => Some((401, "invalid_credential")),
                ("api_user", "user") => Some((403, "token_api_not_enabled")),
                ("admin", "user" | "enabled") => Some((403, "not_an_administrator")),
                ("signed_in" | "api_user" | "admin", _) => None,
                (other, _) => panic!("{other} is not handled by this test"),
            };
            // Signing out would end the session of the caller.
            if operation.path == "/api/user/logout" && kind != "stranger" {
                continue;
            }
            for slash in [false, true] {
                let answer = operation.called_by(caller, slash).await;
                match expected {
                    Some((status, error)) => {
                        assert_eq!((answer.status.as_u16(), answer.error_code()), (status, Some(error)), "{kind}");
                    }
                    None => {
                        let barred = answer.error_code().is_some_and(|error| BARRED.contains(&error));
                        assert!(!barred, "{kind} at {}: {}", operation.name(), answer.text);
                        assert!(answer.status != 405 && answer.status.as_u16() < 500, "{}", operation.name());
                    }
                }
            }
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn both_slash_forms_answer_without_a_redirect(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for operation in operations(&app).await.into_iter().filter(|operation| operation.method == Method::GET) {
        if operation.path == "/api/user/logout" {
            continue;
        }
        let (with, without) = (operation.called_by(&ana, true).await, operation.called_by(&ana, false).await);
        assert_eq!(with.status, without.status, "{}", operation.name());
        assert!(!with.status.is_redirection(), "{}", operation.name());
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_setting_decides_who_may_read_metrics(pool: PgPool) {
    let open = TestApp::new(pool.clone()).await;
    assert_eq!(open.stranger().get("/metrics").await.status, 200);
    let closed = TestApp::with(pool.clone(), &[("KEYMETER_SERVER__METRICS", "admin")]).await;
    closed.stranger().get("/metrics").await.refuses(401, "not_signed_in");
    closed.user("ana").await.get("/metrics").await.refuses(403, "not_an_administrator");
    assert_eq!(closed.root().await.get("/metrics").await.status, 200);
    let off = TestApp::with(pool, &[("KEYMETER_SERVER__METRICS", "off")]).await;
    off.root().await.get("/metrics").await.refuses(404, "not_found");
}
