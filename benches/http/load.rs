//! The load: connections that each send one request after the other, and how long the answers took.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
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
    /// Connections go to them in turn.
    pub servers: Vec<&'a Running>,
    pub work: Work,
}

/// What a connection sends.
#[derive(Clone)]
pub enum Work {
    /// Each request is one measurement.
    Requests(Arc<[String]>),
    /// A charge of each key.
    Charges(Spend),
    /// A reservation of each key and its settlement; the two are one measurement.
    Reservations(Spend),
}

/// Which keys are charged, and by which calls.
#[derive(Clone)]
pub struct Spend {
    pub keys: Arc<[String]>,
    /// The credential of the gateway.
    pub gateway: String,
    /// The path of the calls, without their names.
    pub under: &'static str,
    /// Whether each charge and reservation has a `request_id`, as docs/gateways.md recommends.
    pub has_id: bool,
}

impl Spend {
    /// The body of a charge or of a reservation.
    fn body(&self, at: usize, units: i64) -> Value {
        let mut body = json!({ "key": self.keys[at % self.keys.len()], "quota": units });
        if self.has_id {
            body["request_id"] = Value::from(format!("{:032x}", rand::random::<u128>()));
        }
        body
    }
}

impl<'a> Case<'a> {
    pub fn new(name: impl Into<String>, server: &'a Running, work: Work) -> Self {
        Self { name: name.into(), servers: vec![server], work }
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
    /// The 99th percentile of each round, in milliseconds.
    pub p99s: Vec<f64>,
    micros: Vec<u32>,
    /// Microseconds of processor time for each measurement: of the servers, and of PostgreSQL.
    pub costs: Vec<(f64, f64)>,
    /// The server's peak memory meanwhile, in MiB, including memory that earlier cases left allocated.
    pub peak: f64,
}

impl Measured {
    pub fn rate(&self) -> f64 {
        median(&self.rates)
    }

    /// The median microseconds of processor time of the servers and of PostgreSQL.
    pub fn cost(&self) -> (f64, f64) {
        let of = |part: fn(&(f64, f64)) -> f64| median(&self.costs.iter().map(part).collect::<Vec<_>>());
        (of(|cost| cost.0), of(|cost| cost.1))
    }

    /// The 99th percentile in milliseconds: the median of the rounds, and the highest.
    pub fn p99(&self) -> (f64, f64) {
        (median(&self.p99s), self.p99s.iter().copied().fold(0.0, f64::max))
    }

    /// Milliseconds.
    pub fn percentile(&mut self, percent: usize) -> f64 {
        percentile(&mut self.micros, percent)
    }
}

fn percentile(micros: &mut [u32], percent: usize) -> f64 {
    micros.sort_unstable();
    let at = (micros.len() * percent / 100).min(micros.len().saturating_sub(1));
    f64::from(micros.get(at).copied().unwrap_or(0)) / 1_000.0
}

/// The median of the ratios of each round.
pub fn ratio(of: &Measured, to: &Measured) -> f64 {
    median(&of.rates.iter().zip(&to.rates).map(|(of, to)| of / to).collect::<Vec<_>>())
}

fn median(values: &[f64]) -> f64 {
    quarters(values)[1]
}

/// The three values at the quarters, each the mean of the two between which it is: the lower one alone would be below
/// the median of few. 0 if there are none.
pub fn quarters(values: &[f64]) -> [f64; 3] {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return [0.0; 3] };
    [1, 2, 3].map(|n| f64::midpoint(values[last * n / 4], values[(last * n).div_ceil(4)]))
}

/// Runs all cases in each round; every second round in reverse order.
pub fn run(client: &Runtime, cases: &[Case<'_>], connections: usize, options: &Options) -> BTreeMap<String, Measured> {
    let mut measured: BTreeMap<String, Measured> = BTreeMap::new();
    let cases: Vec<&Case<'_>> = cases.iter().filter(|case| case.name.contains(&options.only)).collect();
    for case in &cases {
        run_unmeasured(client, case, connections, Duration::from_millis(300));
    }
    for round in 0..options.rounds {
        println!("{connections} connections, round {} of {}", round + 1, options.rounds);
        let mut turn = cases.clone();
        if round % 2 == 1 {
            turn.reverse();
        }
        for case in turn {
            let results = measured.entry(case.name.clone()).or_default();
            measure(client, case, connections, Duration::from_secs_f64(options.seconds), None, results);
        }
    }
    measured
}

/// Runs a case without measuring it.
pub fn run_unmeasured(client: &Runtime, case: &Case<'_>, connections: usize, time: Duration) {
    let open = client.block_on(connect(case, connections));
    client.block_on(run_load(case, open, time, None));
}

/// Measures a case once, and adds the results.
pub fn measure(
    client: &Runtime,
    case: &Case<'_>,
    connections: usize,
    time: Duration,
    offered: Option<f64>,
    results: &mut Measured,
) {
    case.servers.iter().for_each(|server| server.reset_peak());
    let cpu = || {
        let servers: f64 = case.servers.iter().map(|server| server.cpu_micros()).sum();
        (servers, case.servers[0].postgres_cpu_micros())
    };
    let open = client.block_on(connect(case, connections));
    let (started, before) = (Instant::now(), cpu());
    let mut micros = client.block_on(run_load(case, open, time, offered));
    let (elapsed, after, done) = (started.elapsed(), cpu(), micros.len() as f64);
    results.rates.push(done / elapsed.as_secs_f64());
    results.costs.push(((after.0 - before.0) / done, (after.1 - before.1) / done));
    results.p99s.push(percentile(&mut micros, 99));
    results.micros.extend(micros);
    for server in &case.servers {
        results.peak = results.peak.max(server.mebibytes("VmHWM"));
    }
}

/// Opens connections to the servers in turn.
async fn connect(case: &Case<'_>, connections: usize) -> Vec<Connection> {
    let mut open = Vec::with_capacity(connections);
    for n in 0..connections {
        open.push(Connection::open(case.servers[n % case.servers.len()].address).await);
    }
    open
}

/// Runs the work on these connections for a time. Returns the microseconds of each measurement.
///
/// Without `offered` each connection sends as soon as it has its answer (a closed loop). With it, so many measurements
/// begin each second, at random times; each takes the next free connection, and counts from when it should have begun,
/// also if none was free. What should have begun in this time is still sent after it.
async fn run_load(case: &Case<'_>, connections: Vec<Connection>, time: Duration, offered: Option<f64>) -> Vec<u32> {
    let until = Instant::now() + time;
    let arrivals = offered.map(|rate| Arc::new(Arrivals::new(rate)));
    let spawn =
        |(n, connection)| tokio::spawn(one_connection(connection, case.work.clone(), n, until, arrivals.clone()));
    let tasks: Vec<_> = connections.into_iter().enumerate().map(spawn).collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all
}

/// When the measurements of an open loop begin.
struct Arrivals {
    /// The mean time in seconds between two of them.
    pause: f64,
    next: Mutex<Instant>,
}

impl Arrivals {
    fn new(rate: f64) -> Self {
        Self { pause: 1.0 / rate, next: Mutex::new(Instant::now()) }
    }

    /// The next one. Times between independent arrivals are distributed exponentially.
    fn take(&self) -> Instant {
        let mut next = self.next.lock().unwrap();
        *next += Duration::from_secs_f64(-self.pause * (1.0 - rand::random::<f64>()).ln());
        *next
    }
}

async fn one_connection(
    mut connection: Connection,
    work: Work,
    first: usize,
    until: Instant,
    arrivals: Option<Arc<Arrivals>>,
) -> Vec<u32> {
    let mut micros = Vec::new();
    // A prime stride visits all requests, and each connection starts elsewhere.
    let mut at = first * 7_919;
    loop {
        let mut due = Instant::now();
        if let Some(arrivals) = &arrivals {
            due = arrivals.take();
            tokio::time::sleep_until(due.min(until).into()).await;
        }
        if due >= until {
            return micros;
        }
        match &work {
            Work::Requests(requests) => {
                connection.send(&requests[at % requests.len()]).await;
            }
            Work::Charges(spend) => {
                let path = format!("{}/charge", spend.under);
                connection.send(&post(&path, &spend.gateway, &spend.body(at, 1))).await;
            }
            Work::Reservations(spend) => {
                let path = format!("{}/reserve", spend.under);
                let made = connection.send(&post(&path, &spend.gateway, &spend.body(at, 5))).await;
                let made: Value = serde_json::from_slice(made).unwrap();
                let body = json!({ "reservation_id": made["data"]["reservation_id"], "quota": 3 });
                connection.send(&post(&format!("{}/settle", spend.under), &spend.gateway, &body)).await;
            }
        }
        micros.push(u32::try_from(due.elapsed().as_micros()).unwrap());
        at += 104_729;
    }
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
