//! Requests as bytes over TCP, for tests of what an HTTP client hides.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Server;

/// How long to wait for an answer or for the end of a connection; long enough for a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// An answer as received.
#[derive(Debug)]
pub struct Raw {
    pub head: String,
    pub body: Vec<u8>,
}

impl Raw {
    pub fn status(&self) -> u16 {
        self.head[9..12].parse().unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub fn has_connection_close(&self) -> bool {
        self.header("connection") == Some("close")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.address()).await.unwrap()
}

/// Connects and send these bytes.
pub async fn send(server: &Server, bytes: &str) -> TcpStream {
    let mut stream = connect(server).await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: keys.test\r\n\r\n")
}

/// The next answer; `None` if the connection ends without one.
pub async fn next_answer(stream: &mut TcpStream) -> Option<Raw> {
    let read = async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        let mut raw = Raw { head, body: Vec::new() };
        raw.body = vec![0; raw.header("content-length").map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut raw.body).await.ok()?;
        Some(raw)
    };
    tokio::time::timeout(TIMEOUT, read).await.expect("the server answers or closes the connection")
}

/// The answer to a `GET` on a new connection.
pub async fn fetch(server: &Server, path: &str) -> Option<Raw> {
    next_answer(&mut send(server, &get(path)).await).await
}

#[track_caller]
pub fn assert_200(answer: Option<Raw>) -> Raw {
    let answer = answer.expect("the server answers");
    assert_eq!(answer.status(), 200, "{}", answer.head);
    answer
}

/// Waits until the server closes the connection, and returns what it still sent.
pub async fn read_to_end(mut stream: TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    // A reset closes the connection, too.
    let end = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut rest)).await;
    let _ = end.expect("the server closes the connection");
    rest
}

/// Sends the head of a request and waits until the server asks for the body; `None` if it refuses the request.
pub async fn send_head(server: &Server, line_and_headers: &str, length: usize) -> Option<TcpStream> {
    let head = format!("{line_and_headers}host: keys.test\r\ncontent-length: {length}\r\nexpect: 100-continue\r\n\r\n");
    let mut stream = send(server, &head).await;
    (next_answer(&mut stream).await?.status() == 100).then_some(stream)
}
