//! Answers of more than 1 KiB are compressed for callers who accept it, except those with secrets (specification §7).

use std::io::Write;
use std::process::{Command, Stdio};

use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::{Client, PLENTY, Servers};

const GZIP: &str = "gzip";

/// The encoding of an answer, and its body as it was sent.
async fn body(client: &Client, method: Method, path: &str, body: &Value) -> (Option<String>, Vec<u8>) {
    let request = reqwest::Client::new().request(method, format!("{}{path}", client.base));
    let answer = request.headers(client.headers.clone()).body(body.to_string()).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}");
    let encoding = answer.headers().get(header::CONTENT_ENCODING).map(|text| text.to_str().unwrap().to_owned());
    (encoding, answer.bytes().await.unwrap().to_vec())
}

fn decompress(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = Command::new(GZIP).arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    gzip.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = gzip.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[sqlx::test(migrations = false)]
async fn long_answers_without_secrets_are_compressed_for_callers_who_accept_it(pool: PgPool) {
    let servers = Servers::start(&url(&pool), 1, &[]).await;
    let ana = servers.owner("ana", PLENTY).await;
    let mut ids = Vec::new();
    for n in 0..20 {
        ids.push(ana.key(json!({ "name": format!("key {n}"), "unlimited_quota": true })).await.0);
    }
    let plain = ana.client.clone();
    let mut accepting = plain.clone();
    accepting.headers.insert(header::ACCEPT_ENCODING, GZIP.parse().unwrap());

    let list = "/api/token/?size=20";
    let (encoding, uncompressed) = body(&plain, Method::GET, list, &Value::Null).await;
    assert_eq!(encoding, None);
    let (encoding, compressed) = body(&accepting, Method::GET, list, &Value::Null).await;
    assert_eq!(encoding.as_deref(), Some(GZIP));
    assert!(compressed.len() * 4 < uncompressed.len(), "{} of {}", compressed.len(), uncompressed.len());
    assert!(decompress(&compressed) == uncompressed);

    let (encoding, short) = body(&accepting, Method::GET, "/api/user/self", &Value::Null).await;
    assert!(encoding.is_none() && short.len() < 1024);
    let (encoding, keys) = body(&accepting, Method::POST, "/api/token/batch/keys", &json!({ "ids": ids })).await;
    assert!(encoding.is_none() && keys.len() > 1024, "answers with keys are not compressed");

    let document = "/api/openapi.json";
    let (encoding, uncompressed) = body(&plain, Method::GET, document, &Value::Null).await;
    assert_eq!(encoding, None);
    let (encoding, compressed) = body(&accepting, Method::GET, document, &Value::Null).await;
    assert_eq!(encoding.as_deref(), Some(GZIP));
    assert!(decompress(&compressed) == uncompressed);
    // It is compressed once, so that it can be asked for by what it contains.
    for caller in [&plain, &accepting] {
        let url = format!("{}{document}", caller.base);
        let answer = reqwest::Client::new().get(&url).headers(caller.headers.clone()).send().await.unwrap();
        let etag = answer.headers()[header::ETAG].clone();
        let again =
            reqwest::Client::new().get(&url).headers(caller.headers.clone()).header(header::IF_NONE_MATCH, etag);
        let again = again.send().await.unwrap();
        assert_eq!((again.status(), again.bytes().await.unwrap().len()), (StatusCode::NOT_MODIFIED, 0));
    }
}
