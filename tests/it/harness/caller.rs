//! A caller of the service inside the test.

use axum::Router;
use axum::body::Body;
use http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::{Answer, TestApp, document};

/// A user, a gateway or a stranger, and the credential that every request carries.
#[derive(Clone)]
pub struct Caller {
    pub(super) router: Router,
    pub id: i64,
    pub username: String,
    pub(super) auth: Auth,
}

#[derive(Clone)]
pub(super) enum Auth {
    Nothing,
    AccessToken(String),
    Session(String),
    Key(String),
}

impl Caller {
    /// The same user with an access token in `Authorization`.
    pub async fn by_access_token(&self) -> Self {
        let token = self.get("/api/user/token").await.ok();
        self.with_access_token(token.as_str().unwrap())
    }

    /// The same caller at another server.
    pub fn at(&self, app: &TestApp) -> Self {
        Self { router: app.router.clone(), ..self.clone() }
    }

    /// The same caller with this text in `Authorization`.
    pub fn with_access_token(&self, token: &str) -> Self {
        Self { auth: Auth::AccessToken(token.to_owned()), ..self.clone() }
    }

    /// The cookie or token that this caller sends.
    pub fn secret(&self) -> &str {
        match &self.auth {
            Auth::Nothing => "",
            Auth::AccessToken(secret) | Auth::Session(secret) | Auth::Key(secret) => secret,
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::POST, path, &body).await
    }

    /// Sends this text as the body.
    pub async fn post_text(&self, path: &str, body: &str) -> Answer {
        let mut request = self.request(Method::POST, path);
        *request.body_mut() = Body::from(body.to_owned());
        self.send(request).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::PUT, path, &body).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send_json(Method::PATCH, path, &body).await
    }

    async fn send_json(&self, method: Method, path: &str, body: &Value) -> Answer {
        let mut request = self.request(method, path);
        *request.body_mut() = Body::from(body.to_string());
        request.headers_mut().insert("content-type", "application/json".parse().unwrap());
        self.send(request).await
    }

    /// A request with this caller's credential, for tests that change it before they [`send`](Self::send) it.
    pub fn request(&self, method: Method, path: &str) -> Request<Body> {
        let mut request = Request::builder().method(method).uri(path).header("host", "keys.test");
        request = match &self.auth {
            Auth::Nothing => request,
            Auth::AccessToken(token) => request.header("authorization", token),
            Auth::Session(cookie) => request.header("cookie", cookie).header("origin", "https://keys.test"),
            Auth::Key(key) => request.header("authorization", format!("Bearer {key}")),
        };
        request.body(Body::empty()).unwrap()
    }

    /// Sends a request unchanged. The answer must be one that the OpenAPI document declares.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        document::assert_declared(&method, &path, parts.status, &parts.headers);
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    /// Reads a page. Returns one field of every item, and the page's total.
    pub async fn page(&self, path: &str, field: &str) -> (Vec<Value>, i64) {
        let data = self.get(path).await.ok();
        let items = data["items"].as_array().unwrap().iter().map(|item| item[field].clone()).collect();
        (items, data["total"].as_i64().unwrap())
    }

    /// Creates a token and returns its id.
    pub async fn creates(&self, token: Value) -> i64 {
        self.creates_with_key(token).await.0
    }

    /// Creates a token and returns its id and its key.
    pub async fn creates_with_key(&self, token: Value) -> (i64, String) {
        let mut request = self.request(Method::POST, "/api/token/");
        *request.body_mut() = Body::from(token.to_string());
        request.headers_mut().insert("prefer", "return=representation".parse().unwrap());
        let token = self.send(request).await.ok();
        (token["id"].as_i64().unwrap(), token["key"].as_str().unwrap().to_owned())
    }
}
