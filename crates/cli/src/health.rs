//! Requests to the address on which the service listens on this machine; `keymeter health` sends one.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const TIMEOUT: Duration = Duration::from_secs(5);

pub async fn run(listen: &str) -> Result<(), String> {
    get(listen, "/healthz", TIMEOUT).await.map(drop)
}

/// The body of an answer with status 200.
///
/// # Errors
/// A sentence that says what came instead.
pub async fn get(listen: &str, path: &str, limit: Duration) -> Result<String, String> {
    let address = match listen.rsplit_once(':') {
        Some(("" | "*" | "0.0.0.0", port)) => format!("127.0.0.1:{port}"),
        Some(("[::]", port)) => format!("[::1]:{port}"),
        _ => listen.to_owned(),
    };
    match tokio::time::timeout(limit, request(&address, path)).await {
        Ok(Ok(answer)) => match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200") => {
                Ok(body.to_owned())
            }
            _ => Err(format!("the service at {address} does not answer 200 to {path}")),
        },
        Ok(Err(error)) => Err(format!("no service answers at {address}: {error}")),
        Err(_) => Err(format!("the service at {address} does not answer within {} seconds", limit.as_secs())),
    }
}

async fn request(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
