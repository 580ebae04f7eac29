//! `keymeter health`: sends one request to the address on which the service listens.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const TIMEOUT: Duration = Duration::from_secs(5);

pub async fn run(listen: &str) -> Result<(), String> {
    let address = match listen.rsplit_once(':') {
        Some(("" | "*" | "0.0.0.0", port)) => format!("127.0.0.1:{port}"),
        Some(("[::]", port)) => format!("[::1]:{port}"),
        _ => listen.to_owned(),
    };
    match tokio::time::timeout(TIMEOUT, request(&address)).await {
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200") => Ok(()),
        Ok(Ok(_)) => Err(format!("the service at {address} does not answer 200 to /healthz")),
        Ok(Err(error)) => Err(format!("no service answers at {address}: {error}")),
        Err(_) => Err(format!("the service at {address} does not answer within {} seconds", TIMEOUT.as_secs())),
    }
}

async fn request(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
