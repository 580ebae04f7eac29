//! A caller that sends requests to a running service over the network.

use http::{HeaderMap, Method};
use serde_json::{Value, json};

use super::{Answer, ROOT_PASSWORD, Server, document};

/// A user, a gateway or a stranger, and the headers that every request carries.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    pub base: String,
    pub headers: HeaderMap,
}

impl Client {
    /// Not signed in.
    pub fn stranger(server: &Server) -> Self {
        Self::stranger_at(&server.base)
    }

    /// The same at this address.
    pub fn stranger_at(base: &str) -> Self {
        Self { http: reqwest::Client::new(), base: base.to_owned(), headers: HeaderMap::new() }
    }

    /// With this text in `Authorization`: an access token, a gateway credential, or `Bearer` and a key.
    pub fn with(server: &Server, authorization: &str) -> Self {
        let mut client = Self::stranger(server);
        client.headers.insert("authorization", authorization.parse().unwrap());
        client
    }

    /// The same with this id for its requests.
    pub fn with_id(&self, id: &str) -> Self {
        let mut client = self.clone();
        client.headers.insert("x-request-id", id.parse().unwrap());
        client
    }

    /// Signed in, with the session cookie.
    pub async fn signed_in(server: &Server, username: &str, password: &str) -> Self {
        let mut client = Self::stranger(server);
        let answer = client.login(username, password).await;
        answer.ok();
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap();
        client.headers.insert("cookie", cookie.parse().unwrap());
        client.headers.insert("origin", server.base.parse().unwrap());
        client
    }

    /// `root`, with an access token.
    pub async fn root(server: &Server) -> Self {
        Self::with(server, &access_token_of_root(server).await)
    }

    /// The answer to a login.
    pub async fn login(&self, username: &str, password: &str) -> Answer {
        self.post("/api/user/login", json!({ "username": username, "password": password })).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, String::new()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, String::new()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, body.to_string()).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, body.to_string()).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, body.to_string()).await
    }

    pub async fn send(&self, method: Method, path: &str, body: String) -> Answer {
        self.try_send(method, path, body).await.unwrap()
    }

    /// The same where the service may not answer.
    pub async fn try_send(&self, method: Method, path: &str, body: String) -> reqwest::Result<Answer> {
        let request = self.http.request(method.clone(), format!("{}{path}", self.base)).headers(self.headers.clone());
        let answer = request.body(body).send().await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        document::assert_declared(&method, path, status, &headers);
        Ok(Answer { status, headers, text: answer.text().await? })
    }

    /// Creates a token and returns its id and its key; `None` if the service did not confirm it.
    pub async fn creates(&self, token: Value) -> Option<(i64, String)> {
        let mut client = self.clone();
        client.headers.insert("prefer", "return=representation".parse().unwrap());
        let answer = client.try_send(Method::POST, "/api/token/", token.to_string()).await.ok()?;
        let token = (answer.status == 200).then(|| answer.ok())?;
        Some((token["id"].as_i64().unwrap(), token["key"].as_str().unwrap().to_owned()))
    }
}

pub async fn access_token_of_root(server: &Server) -> String {
    let root = Client::signed_in(server, "root", ROOT_PASSWORD).await;
    root.get("/api/user/token").await.ok().as_str().unwrap().to_owned()
}
