//! Sends requests to a server, and turns what goes wrong into sentences and exit codes.

use std::fmt::Display;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use ureq::http::{Request, Response};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::typestate::WithoutBody;
use ureq::{Agent, Body, Proxy, RequestBuilder};

use super::address::Address;
use super::target::ServerOptions;
use super::terminal::printable;
use crate::failure::{CommandFailure, exit};
use keymeter::api::errors::code::ErrorCode;
use keymeter::version::VERSION;

/// A server that does not answer in this time is not waited for. It limits its own requests to less.
const TIMEOUT: Duration = Duration::from_mins(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const SOON: Duration = Duration::from_secs(10);

/// Reports and pages are smaller.
const MAX_BODY: u64 = 64 * 1024 * 1024;

/// How a client proves who it is.
pub enum ClientCredential {
    None,
    AccessToken(SecretString),
    /// A session: its cookie, and the id of its user, which a page of another site could not send.
    Session {
        cookie: SecretString,
        user_id: i64,
    },
}

/// Sends requests to one server.
pub struct Client {
    agent: Agent,
    address: Address,
    credential: ClientCredential,
}

#[derive(Deserialize)]
struct Envelope {
    success: bool,
    #[serde(default)]
    message: String,
    error: Option<String>,
    data: Option<Box<RawValue>>,
}

/// What a call returned: `data` as the server wrote it.
pub struct Data(pub Option<Box<RawValue>>);

impl Data {
    pub fn text(&self) -> &str {
        self.0.as_ref().map_or("null", |raw| raw.get())
    }

    pub fn read<T: DeserializeOwned>(&self) -> Result<T, CommandFailure> {
        read(self.text())
    }
}

/// Reads JSON of the server.
pub fn read<T: DeserializeOwned>(json: &str) -> Result<T, CommandFailure> {
    let unread = |error| {
        format!("the server's answer cannot be read ({error}); is this program, {VERSION}, older than the server?")
    };
    serde_json::from_str(json).map_err(|error| CommandFailure::from(unread(error)))
}

impl Client {
    pub fn new(
        address: Address,
        credential: ClientCredential,
        options: &ServerOptions,
    ) -> Result<Self, CommandFailure> {
        let mut tls = TlsConfig::builder();
        if let Some(file) = &options.ca_file {
            tls = tls.root_certs(authorities(file)?);
        }
        // A proxy would read what is not encrypted.
        let proxy = if address.is_encrypted() { Proxy::try_from_env() } else { None };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // The access token goes to the address that was given, and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .tls_config(tls.build())
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(TIMEOUT))
            .user_agent(format!("keymeter/{VERSION}"))
            .build()
            .new_agent();
        Ok(Self { agent, address, credential })
    }

    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// The same server with another credential.
    pub fn with(&self, credential: ClientCredential) -> Self {
        Self { agent: self.agent.clone(), address: self.address.clone(), credential }
    }

    pub fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Data, CommandFailure> {
        let mut request = self.agent.get(self.url(path));
        for (name, value) in query {
            request = request.query(*name, value);
        }
        self.call(request)
    }

    /// The same without a query, for a call that is repeated: it does not wait for long.
    pub fn get_soon(&self, path: &str) -> Result<Data, CommandFailure> {
        self.call(self.agent.get(self.url(path)).config().timeout_global(Some(SOON)).build())
    }

    fn call(&self, mut request: RequestBuilder<WithoutBody>) -> Result<Data, CommandFailure> {
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        self.understand(request.call(), false).map(|(data, _)| data)
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        self.send("POST", path, Some(body), &[]).map(|(data, _)| data)
    }

    /// The same with a body that is JSON already: its numbers stay as they are written.
    pub fn post_text(&self, path: &str, json: &str) -> Result<Data, CommandFailure> {
        self.send("POST", path, Some(&json), &[]).map(|(data, _)| data)
    }

    pub fn put(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        self.send("PUT", path, Some(body), &[]).map(|(data, _)| data)
    }

    /// The same with a body that is JSON already.
    pub fn put_text(&self, path: &str, json: &str) -> Result<Data, CommandFailure> {
        self.send("PUT", path, Some(&json), &[]).map(|(data, _)| data)
    }

    pub fn patch(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        self.patch_with(path, body, &[])
    }

    /// The same with headers of its own.
    pub fn patch_with(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Result<Data, CommandFailure> {
        self.send("PATCH", path, Some(body), headers).map(|(data, _)| data)
    }

    pub fn delete(&self, path: &str) -> Result<Data, CommandFailure> {
        self.send("DELETE", path, None, &[]).map(|(data, _)| data)
    }

    /// Creates something, with headers of its own.
    pub fn create(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Result<Data, CommandFailure> {
        self.send("POST", path, Some(body), headers).map(|(data, _)| data)
    }

    /// Sends any request, and returns the body of its answer as it is.
    ///
    /// # Errors
    /// The answer is a failure.
    pub fn raw(&self, method: &Method, path: &str, body: Option<&str>) -> Result<Vec<u8>, CommandFailure> {
        let body = body.as_ref().map(|body| body as &dyn Display);
        let answer = self.request(method.as_str(), path, body, &[]);
        let changes = !method.is_safe();
        let (status, _, body) = self.read(answer, changes)?;
        // Some answers have no envelope: CSV, metrics, the OpenAPI document.
        let envelope = serde_json::from_slice::<Envelope>(&body).ok();
        if status.is_success() && envelope.as_ref().is_none_or(|envelope| envelope.success) {
            return Ok(body);
        }
        Err(self.failure(status, envelope, changes))
    }

    /// Signs in. Returns what the server says about the user, and the session's cookie.
    pub fn sign_in(&self, username: &str, password: &SecretString) -> Result<(Data, SecretString), CommandFailure> {
        let body = serde_json::json!({ "username": username, "password": password.expose_secret() });
        let (data, cookie) = self.send("POST", "/api/user/login", Some(&body), &[])?;
        let cookie = cookie.ok_or_else(|| self.not_keymeter("it sent no session"))?;
        Ok((data, cookie))
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        match &self.credential {
            ClientCredential::None => Vec::new(),
            ClientCredential::AccessToken(token) => {
                vec![(AUTHORIZATION.as_str(), format!("Bearer {}", token.expose_secret()))]
            }
            ClientCredential::Session { cookie, user_id } => {
                vec![(COOKIE.as_str(), cookie.expose_secret().to_owned()), ("new-api-user", user_id.to_string())]
            }
        }
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&dyn Display>,
        headers: &[(&str, &str)],
    ) -> Result<(Data, Option<SecretString>), CommandFailure> {
        self.understand(self.request(method, path, body, headers), true)
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<&dyn Display>,
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request = Request::builder().method(method).uri(self.url(path));
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match body {
            Some(body) => {
                let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
                request.map_err(ureq::Error::from).and_then(|request| self.agent.run(request))
            }
            None => request.body(()).map_err(ureq::Error::from).and_then(|request| self.agent.run(request)),
        }
    }

    /// What an answer says. `changes`: whether the request may have changed something.
    fn understand(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
        changes: bool,
    ) -> Result<(Data, Option<SecretString>), CommandFailure> {
        let (status, cookie, body) = self.read(answer, changes)?;
        match serde_json::from_slice::<Envelope>(&body).ok() {
            Some(envelope) if envelope.success => Ok((Data(envelope.data), cookie)),
            envelope => Err(self.failure(status, envelope, changes)),
        }
    }

    /// The status of an answer, the cookie that it sets, and its body.
    fn read(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
        changes: bool,
    ) -> Result<(StatusCode, Option<SecretString>, Vec<u8>), CommandFailure> {
        let mut answer = answer.map_err(|error| self.unreachable(&error, changes))?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(self.redirect(&answer));
        }
        let cookie = answer.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok());
        let cookie = cookie.and_then(|text| text.split(';').next()).map(SecretString::from);
        let body = answer.body_mut().with_config().limit(MAX_BODY).read_to_vec();
        let body = body.map_err(|error| self.unreachable(&error, changes))?;
        Ok((status, cookie, body))
    }

    /// What an answer says that is a failure.
    fn failure(&self, status: StatusCode, envelope: Option<Envelope>, changes: bool) -> CommandFailure {
        match (envelope, status) {
            (Some(envelope), _) => self.refusal(status, envelope),
            // A proxy in front of the server answers in its own words.
            (None, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT) => {
                let message = format!("{} is unavailable (status {}); retry shortly", self.address, status.as_u16());
                // The proxy may have waited for an answer.
                let may_be_done = changes && status == StatusCode::GATEWAY_TIMEOUT;
                CommandFailure { may_be_done, ..CommandFailure::new(exit::UNAVAILABLE, message) }
            }
            (None, _) => self.not_keymeter(&format!("status {}", status.as_u16())),
        }
    }

    fn refusal(&self, status: StatusCode, envelope: Envelope) -> CommandFailure {
        let code = envelope.error.unwrap_or_default();
        // The server may be set to answer failures with status 200; the code tells what it would have been.
        let known = ErrorCode::ALL.iter().find(|known| known.as_str() == code);
        let status = match known {
            Some(known) if status == StatusCode::OK => known.statuses()[0],
            _ => status,
        };
        let mut message = printable(&format!("{} ({code})", envelope.message));
        if code == "invalid_credential" {
            message = format!("{message}; run: keymeter login --server {}", self.address);
        }
        CommandFailure::of_status(status, message)
    }

    fn redirect(&self, answer: &Response<Body>) -> CommandFailure {
        let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
        let (from, to) = (&self.address, printable(location));
        format!("{from} redirects to {to}; nothing was sent there. Give the server's final address with --server")
            .into()
    }

    fn not_keymeter(&self, why: &str) -> CommandFailure {
        format!("{} does not answer like Keymeter ({why}); check the address", self.address).into()
    }

    fn unreachable(&self, error: &ureq::Error, changes: bool) -> CommandFailure {
        let io = if let ureq::Error::Io(error) = error { Some(error) } else { None };
        let reason = if matches!(error, ureq::Error::HostNotFound) {
            "no such host".to_owned()
        } else if matches!(error, ureq::Error::Timeout(_)) {
            "no answer in time".to_owned()
        } else {
            io.map_or_else(|| error.to_string(), ToString::to_string)
        };
        let refused = io.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused);
        let never_sent = refused || matches!(error, ureq::Error::HostNotFound | ureq::Error::Tls(_));
        let may_be_done = changes && !never_sent;
        let remedy = if may_be_done {
            "the change may have been made; look before you repeat it"
        } else {
            "check the address, and that the server runs"
        };
        let failure =
            CommandFailure::new(exit::UNAVAILABLE, format!("cannot reach {}: {reason}; {remedy}", self.address));
        CommandFailure { may_be_done, ..failure }
    }
}

fn authorities(file: &std::path::Path) -> Result<RootCerts, CommandFailure> {
    let unusable =
        |why: String| CommandFailure::new(exit::USAGE, format!("cannot use --ca-file {}: {why}", file.display()));
    let pem = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| unusable(error.to_string()))? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(unusable("it has no certificate".to_owned()));
    }
    Ok(found.into())
}
