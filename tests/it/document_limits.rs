//! The limits that the OpenAPI document states are those that the API enforces (spec §8).

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, TestApp};

struct Field<'a> {
    schema: &'a str,
    name: &'a str,
    caller: &'a Caller,
    method: Method,
    path: String,
    /// The other members of a valid body.
    body: Value,
}

impl Field<'_> {
    async fn send(&self, value: Value) -> Answer {
        let mut body = self.body.clone();
        body[self.name] = value;
        match self.method {
            Method::POST => self.caller.post(&self.path, body).await,
            Method::PATCH => self.caller.patch(&self.path, body).await,
            _ => self.caller.put(&self.path, body).await,
        }
    }

    /// A valid text of so many characters.
    fn text(&self, chars: usize) -> Value {
        let end = if self.name == "email" { "@example.org" } else { "" };
        format!("{}{end}", "n".repeat(chars - end.len())).into()
    }

    /// Sends the values at both bounds, and those just outside.
    async fn is_as_stated(&self, stated: &Value) {
        let bound = |name: &str| stated[name].as_i64();
        let (min, max) = (bound("minLength").or(bound("minimum")), bound("maxLength").or(bound("maximum")));
        let value = |bound: i64| match stated.get("maxLength") {
            Some(_) => self.text(usize::try_from(bound).unwrap()),
            None => bound.into(),
        };
        let max = max.unwrap_or_else(|| panic!("{}.{} states no maximum: {stated}", self.schema, self.name));
        let beyond = [Some(max + 1), min.map(|min| min - 1)];
        for bound in beyond.into_iter().flatten() {
            let answer = self.send(value(bound)).await;
            assert_eq!(answer.status, 400, "{}.{} {bound}: {}", self.schema, self.name, answer.text);
        }
        let answer = self.send(value(max)).await;
        assert_eq!(answer.status, 200, "{}.{} {max}: {}", self.schema, self.name, answer.text);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_api_accepts_what_the_document_allows_and_no_more(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let document = app.stranger().get("/api/openapi.json").await.json();
    let schemas = &document["components"]["schemas"];
    let (stranger, admin, ana, ben) =
        (&app.stranger(), &app.admin("carla").await, &app.enabled_user("ana").await, &app.user("ben").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    let request = ben.post("/api/user/token_api_request", json!({ "reason": "why" })).await.ok()["id"].clone();
    let (dan, eve) = (&app.user("dan").await, &app.user("eve").await);
    let account = format!("/api/admin/users/{}", ana.id);
    let field = |schema, name, caller, method, path: &str, body| {
        let path = path.to_owned();
        Field { schema, name, caller, method, path, body }
    };
    let new = |username: &str| json!({ "username": username, "password": "long enough" });
    let (post, put, patch) = (Method::POST, Method::PUT, Method::PATCH);
    let (users, register) = ("/api/admin/users", "/api/user/register");
    for field in [
        field("CreateBody", "name", ana, post.clone(), "/api/token/", json!({})),
        field("CreateBody", "note", ana, post.clone(), "/api/token/", json!({ "name": "two" })),
        field("UpdateBody", "name", ana, put.clone(), "/api/token/", json!({ "id": token })),
        field("UpdateBody", "note", ana, put.clone(), "/api/token/", json!({ "id": token })),
        field("NewUserBody", "username", admin, post.clone(), users, new("")),
        field("NewUserBody", "password", admin, post.clone(), users, new("u1")),
        field("NewUserBody", "display_name", admin, post.clone(), users, new("u2")),
        field("NewUserBody", "email", admin, post.clone(), users, new("u3")),
        field("NewUserBody", "quota", admin, post.clone(), users, new("u4")),
        field("NewUserBody", "max_tokens", admin, post.clone(), users, new("u5")),
        field("UserPatchBody", "display_name", admin, patch.clone(), &account, json!({})),
        field("UserPatchBody", "email", admin, patch.clone(), &account, json!({})),
        field("UserPatchBody", "max_tokens", admin, patch.clone(), &account, json!({})),
        field("UserPatchBody", "password", admin, patch, &format!("/api/admin/users/{}", dan.id), json!({})),
        field("SelfBody", "display_name", ana, put.clone(), "/api/user/self", json!({})),
        field("SelfBody", "email", ana, put, "/api/user/self", json!({})),
        field("RegisterBody", "email", stranger, post.clone(), register, new("r1")),
        field("RegisterBody", "password", stranger, post.clone(), register, new("r2")),
        field("GrantBody", "note", admin, post.clone(), &format!("{account}/quota"), json!({ "delta": 1 })),
        field(
            "BulkUsersBody",
            "note",
            admin,
            post.clone(),
            "/api/admin/users/bulk",
            json!({ "ids": [ana.id], "add_quota": 1 }),
        ),
        field("NewGatewayBody", "name", admin, post.clone(), "/api/admin/gateways", json!({})),
        field("AccessTokenRequest", "name", ana, post.clone(), "/api/user/access_tokens", json!({})),
        field("ApiRequestRequest", "reason", eve, post.clone(), "/api/user/token_api_request", json!({})),
        field(
            "DecisionBody",
            "note",
            admin,
            post,
            &format!("/api/admin/token_api_requests/{request}"),
            json!({ "decision": "refuse" }),
        ),
    ] {
        field.is_as_stated(&schemas[field.schema]["properties"][field.name]).await;
    }
}
