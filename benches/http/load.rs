//! The load: connections that each send one request after the other, and how long the answers took.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::Options;
use crate::installation::Running;

#[derive(Clone)]
pub struct Case<'a> {
    pub name: String,
    pub server: &'a Running,
    pub work: Work,
}

/// The requests that a connection sends.
#[derive(Clone)]
pub enum Work {
    /// Each request is one measurement.
    Requests(Arc<[String]>),
    /// For each key, a reservation and its settlement; the two are one measurement.
    Reservations { keys: Arc<[String]>, gateway: String },
}

impl<'a> Case<'a> {
    pub fn new(name: impl Into<String>, server: &'a Running, requests: Vec<String>) -> Self {
        Self { name: name.into(), server, work: Work::Requests(requests.into()) }
    }
}

pub fn get(path: &str, authorization: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: {authorization}\r\n\r\n")
}

pub fn post(path: &str, authorization: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: bench\r\nauthorization: {authorization}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The results of a case over all rounds.
#[derive(Default)]
pub struct Measured {
    pub rates: Vec<f64>,
    micros: Vec<u32>,
    /// The server's peak memory meanwhile, in MiB, including memory that earlier cases left allocated.
    pub peak: f64,
}

impl Measured {
    pub fn rate(&self) -> f64 {
        median(&self.rates)
    }

    /// Milliseconds.
    pub fn percentile(&mut self, percent: usize) -> f64 {
        self.micros.sort_unstable();
        let at = (self.micros.len() * percent / 100).min(self.micros.len().saturating_sub(1));
        f64::from(self.micros.get(at).copied().unwrap_or(0)) / 1_000.0
    }
}

/// The median of the ratios of each round.
pub fn ratio(of: &Measured, to: &Measured) -> f64 {
    median(&of.rates.iter().zip(&to.rates).map(|(of, to)| of / to).collect::<Vec<_>>())
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Runs all cases in each round; every second round in reverse order.
pub fn run(client: &Runtime, cases: &[Case<'_>], connections: usize, options: &Options) -> BTreeMap<String, Measured> {
    let mut measured: BTreeMap<String, Measured> = BTreeMap::new();
    let cases: Vec<&Case<'_>> = cases.iter().filter(|case| case.name.contains(&options.only)).collect();
    for case in &cases {
        client.block_on(run_load(case, connections, Duration::from_millis(300)));
    }
    for round in 0..options.rounds {
        println!("{connections} connections, round {} of {}", round + 1, options.rounds);
        let mut turn = cases.clone();
        if round % 2 == 1 {
            turn.reverse();
        }
        for case in turn {
            case.server.reset_peak();
            let started = Instant::now();
            let micros = client.block_on(run_load(case, connections, Duration::from_secs_f64(options.seconds)));
            let results = measured.entry(case.name.clone()).or_default();
            results.rates.push(micros.len() as f64 / started.elapsed().as_secs_f64());
            results.micros.extend(micros);
            results.peak = results.peak.max(case.server.mebibytes("VmHWM"));
        }
    }
    measured
}

/// Runs the work on a number of connections for a time. Returns the microseconds of each measurement.
pub async fn run_load(case: &Case<'_>, connections: usize, time: Duration) -> Vec<u32> {
    let until = Instant::now() + time;
    let spawn = |n| tokio::spawn(one_connection(case.server.address, case.work.clone(), n, until));
    let tasks: Vec<_> = (0..connections).map(spawn).collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all
}

async fn one_connection(address: SocketAddr, work: Work, first: usize, until: Instant) -> Vec<u32> {
    let mut connection = Connection::open(address).await;
    let mut micros = Vec::new();
    // A prime stride visits all requests, and each connection starts elsewhere.
    let mut at = first * 7_919;
    while Instant::now() < until {
        let sent = Instant::now();
        match &work {
            Work::Requests(requests) => {
                connection.send(&requests[at % requests.len()]).await;
            }
            Work::Reservations { keys, gateway } => {
                let body = json!({ "key": keys[at % keys.len()], "quota": 5 });
                let made: Value =
                    serde_json::from_slice(connection.send(&post("/api/gateway/reserve", gateway, &body)).await)
                        .unwrap();
                let body = json!({ "reservation_id": made["data"]["reservation_id"], "quota": 3 });
                connection.send(&post("/api/gateway/settle", gateway, &body)).await;
            }
        }
        micros.push(u32::try_from(sent.elapsed().as_micros()).unwrap());
        at += 104_729;
    }
    micros
}

/// A connection, with the bytes of the last answer.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::with_capacity(16 * 1024) }
    }

    /// Sends a request and reads one whole answer, which must be a 200 with a length; returns its body.
    async fn send(&mut self, request: &str) -> &[u8] {
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.buffer.clear();
        loop {
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the server closed the connection");
            let Some(head_end) = self.buffer.windows(4).position(|part| part == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&self.buffer[..head_end]).to_lowercase();
            assert!(head.starts_with("http/1.1 200"), "{}", String::from_utf8_lossy(&self.buffer));
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
            let (start, length) = (head_end + 4, length.trim().parse::<usize>().unwrap());
            while self.buffer.len() < start + length {
                assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the server closed the connection");
            }
            return &self.buffer[start..];
        }
    }
}
