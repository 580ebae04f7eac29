//! Measurements during the run: gaps without a charge, and the memory and files of the servers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::faults::FaultKind;
use crate::process::kibibytes;
use crate::world::{SERVERS, World};

/// How often gaps are measured.
const TICK: Duration = Duration::from_millis(20);

/// For this time after its end, a fault can still explain missing answers.
const AFTERMATH: Duration = Duration::from_secs(1);

/// A fault, from its beginning until every server charges again.
#[derive(Debug, Clone)]
pub struct Window {
    pub kind: FaultKind,
    /// The server that it happened to.
    pub victim: Option<usize>,
    pub began: Instant,
    /// When SIGTERM was sent to the victim.
    pub stop_requested: Option<Instant>,
    /// When its cause was over.
    pub ended: Option<Instant>,
    /// When every server charged again.
    pub closed: Option<Instant>,
    /// The longest time in which no charge at all succeeded on a server that was healthy.
    pub server_gap: Duration,
    /// The longest time in which none succeeded for some wallet on such a server.
    pub wallet_gap: Duration,
    /// Answers of 503.
    pub unavailable: u64,
}

/// All faults so far, and the time between them.
#[derive(Default)]
pub struct Windows(Mutex<(Vec<Window>, FaultFree)>);

/// What happened while there was no fault.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultFree {
    pub server_gap: Duration,
    pub wallet_gap: Duration,
    pub unavailable: u64,
}

impl Windows {
    pub fn open(&self, kind: FaultKind, victim: Option<usize>) {
        let [server_gap, wallet_gap] = [Duration::ZERO; 2];
        let [stop_requested, ended, closed] = [None; 3];
        let began = Instant::now();
        let unavailable = 0;
        let window = Window { kind, victim, began, stop_requested, ended, closed, server_gap, wallet_gap, unavailable };
        self.0.lock().unwrap().0.push(window);
    }

    /// Changes the fault that is under way, if there is one, and returns it.
    pub fn change(&self, change: impl FnOnce(&mut Window)) -> Option<Window> {
        let mut state = self.0.lock().unwrap();
        let window = state.0.last_mut().filter(|window| window.closed.is_none())?;
        change(window);
        Some(window.clone())
    }

    pub fn current(&self) -> Option<Window> {
        self.change(|_| {})
    }

    pub fn all(&self) -> (Vec<Window>, FaultFree) {
        self.0.lock().unwrap().clone()
    }

    /// Returns true if a fault can explain that a request sent at this time got no answer.
    pub fn explain_missing_answer(&self, sent: Instant) -> bool {
        self.0.lock().unwrap().0.iter().any(|window| window.closed.is_none_or(|closed| closed + AFTERMATH >= sent))
    }

    /// The finding for a broken connection; `None` if a fault explains it.
    pub fn finding_for_broken_connection(&self, server: usize, sent: Instant) -> Option<&'static str> {
        let state = self.0.lock().unwrap();
        let touches = |window: &&Window| {
            window.victim == Some(server) && window.ended.is_none_or(|ended| ended + AFTERMATH >= sent)
        };
        match state.0.iter().rev().find(touches) {
            Some(Window { stop_requested: Some(at), .. }) if sent < *at => {
                Some("a request sent before SIGTERM was cut off")
            }
            Some(_) => None,
            None => Some("a connection was refused or cut off by a server without a fault"),
        }
    }

    pub fn count_unavailable(&self, sent: Instant) {
        let mut state = self.0.lock().unwrap();
        let (windows, fault_free) = &mut *state;
        match windows.last_mut().filter(|window| window.closed.is_none_or(|closed| closed + AFTERMATH >= sent)) {
            Some(window) => window.unavailable += 1,
            None => fault_free.unavailable += 1,
        }
    }
}

/// When each server last answered, and last charged each wallet.
pub struct LastActivity {
    began: Instant,
    answered: Vec<AtomicU64>,
    charged: Vec<Vec<AtomicU64>>,
}

impl LastActivity {
    pub fn new(servers: usize, owners: usize) -> Self {
        let zeros = |n| std::iter::repeat_with(AtomicU64::default).take(n).collect();
        Self { began: Instant::now(), answered: zeros(servers), charged: (0..servers).map(|_| zeros(owners)).collect() }
    }

    pub fn record_answer(&self, server: usize) {
        self.store_now(&self.answered[server]);
    }

    pub fn record_charge(&self, server: usize, owner: usize) {
        self.store_now(&self.charged[server][owner]);
    }

    pub fn answered(&self, server: usize) -> Instant {
        self.load(&self.answered[server])
    }

    pub fn charged(&self, server: usize, owner: usize) -> Instant {
        self.load(&self.charged[server][owner])
    }

    fn store_now(&self, at: &AtomicU64) {
        at.fetch_max(u64::try_from(self.began.elapsed().as_micros()).unwrap(), Ordering::SeqCst);
    }

    fn load(&self, at: &AtomicU64) -> Instant {
        self.began + Duration::from_micros(at.load(Ordering::SeqCst))
    }
}

/// Measures, until the load stops, how long wallets and servers go without a charge.
pub async fn measure_gaps(world: Arc<World>) {
    let mut ticks = tokio::time::interval(TICK);
    let mut fault_free_since = Instant::now() + world.options.warm_up() / 2;
    while !world.is_stopping() {
        ticks.tick().await;
        let now = Instant::now();
        let under_way = world.windows.current();
        let (victim, since) = match &under_way {
            // While the database is down, no server can charge.
            Some(window) if window.kind.stops_the_database() => match window.ended {
                Some(ended) => (None, ended),
                None => continue,
            },
            Some(window) => (window.victim, window.began),
            None => (None, fault_free_since),
        };
        let (mut longest_server, mut longest_wallet) = (Duration::ZERO, Duration::ZERO);
        for server in (0..SERVERS).filter(|server| Some(*server) != victim) {
            let rich = (0..world.owners.len()).filter(|owner| world.owners[*owner].is_rich);
            let gap = |owner| now.saturating_duration_since(world.last_activity.charged(server, owner).max(since));
            let (shortest, longest) =
                rich.map(gap).fold((Duration::MAX, Duration::ZERO), |(shortest, longest), gap| {
                    (shortest.min(gap), longest.max(gap))
                });
            longest_server = longest_server.max(shortest);
            longest_wallet = longest_wallet.max(longest);
        }
        if under_way.is_some() {
            fault_free_since = now;
            world.windows.change(|window| {
                window.server_gap = window.server_gap.max(longest_server);
                window.wallet_gap = window.wallet_gap.max(longest_wallet);
            });
        } else {
            let fault_free = &mut world.windows.0.lock().unwrap().1;
            fault_free.server_gap = fault_free.server_gap.max(longest_server);
            fault_free.wallet_gap = fault_free.wallet_gap.max(longest_wallet);
        }
    }
}

/// The memory and files of a server at one time.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Since the process began.
    pub age: Duration,
    pub mebibytes: f64,
    pub files: usize,
    /// Whether there was load.
    pub is_busy: bool,
}

/// One process of a server. A restarted server has several.
#[derive(Debug, Clone)]
pub struct ServerProcess {
    pub server: usize,
    pub pid: u32,
    pub began: Instant,
    pub samples: Vec<Sample>,
}

impl ServerProcess {
    /// The samples under load after the warm-up.
    pub fn warm(&self, warm_up: Duration) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| sample.is_busy && sample.age >= warm_up)
    }

    /// The median of the memory, or of the files, of the first samples after the warm-up; nothing if it ended before.
    pub fn after_warm_up(&self, warm_up: Duration, of: fn(&Sample) -> f64) -> Option<f64> {
        const FIRST: usize = 10;
        let first: Vec<f64> = self.warm(warm_up).take(FIRST).map(of).collect();
        (first.len() == FIRST).then(|| median(first))
    }

    /// How its memory grew under load after the warm-up, in MiB a minute: the line of least squares.
    pub fn slope(&self, warm_up: Duration) -> f64 {
        let points: Vec<_> =
            self.warm(warm_up).map(|sample| (sample.age.as_secs_f64() / 60.0, sample.mebibytes)).collect();
        let count = points.len().max(1) as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
        let (xy, xx) = points.iter().fold((0.0, 0.0), |(xy, xx), point| {
            (xy + (point.0 - x) * (point.1 - y), xx + (point.0 - x) * (point.0 - x))
        });
        if xx > 0.0 { xy / xx } else { 0.0 }
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Takes a sample of every server each second, for as long as the task runs.
pub async fn take_samples(world: Arc<World>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        for (server, slot) in world.servers.iter().enumerate() {
            let pid = slot.pid.load(Ordering::SeqCst);
            let files = std::fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count);
            let (Some(kibibytes), Ok(files)) = (kibibytes(pid, "VmRSS"), files) else {
                continue;
            };
            let mut processes = world.processes.lock().unwrap();
            let index = processes.iter().position(|process| process.pid == pid && process.server == server);
            let index = index.unwrap_or_else(|| {
                processes.push(ServerProcess { server, pid, began: Instant::now(), samples: Vec::new() });
                processes.len() - 1
            });
            let process = &mut processes[index];
            let (age, mebibytes) = (process.began.elapsed(), kibibytes as f64 / 1_024.0);
            process.samples.push(Sample { age, mebibytes, files, is_busy: !world.is_stopping() });
        }
    }
}
