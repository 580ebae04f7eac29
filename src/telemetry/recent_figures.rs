//! What this server did in the last seconds, for administrators.
//!
//! It is the difference of the metrics at two times, as Prometheus computes it from what it has scraped: the system
//! page and a board show the same.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Metrics;

/// How often the metrics are read.
const INTERVAL: Duration = Duration::from_secs(5);

/// The figures are those of at least so long ago until now, once the server has run for so long.
const AT_LEAST: Duration = Duration::from_secs(10);

/// The steps of a batch, in their order.
const STEPS: [&str; 4] = ["lock", "write", "commit", "flush"];

/// What happened in some seconds, and what waits now. Times are microseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentFigures {
    /// The time that the counts are of.
    pub milliseconds: u64,
    /// Answered requests.
    pub requests: u64,
    /// Those of them that the server could not answer: statuses of 500 and more.
    pub failures: u64,
    /// From the request to its answer.
    pub request: Quantiles,
    /// Operations of the ledger that were answered, by kind.
    pub operations: BTreeMap<String, u64>,
    /// Those of them that were refused.
    pub refused: u64,
    /// Those of them that found the ledger busy, or the database failing.
    pub failed: u64,
    /// Quota units charged.
    pub quota: u64,
    /// From the queueing of an operation to its answer.
    pub operation: Quantiles,
    /// Committed batches.
    pub batches: u64,
    /// Operations in them.
    pub batched: u64,
    /// The mean time of each step of a batch, in the order of the steps.
    pub steps: Vec<StepTime>,
    /// Operations that wait now.
    pub queue: u64,
    /// Requests that are not answered yet.
    pub in_flight: u64,
}

/// The time that half of all took at most, and that 99 of 100 did; `None` if there were none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quantiles {
    pub p50: Option<u64>,
    pub p99: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTime {
    pub step: &'static str,
    pub mean: Option<u64>,
}

/// Reads the metrics now and then.
#[derive(Debug)]
pub struct RecentMetrics {
    metrics: Arc<Metrics>,
    samples: Mutex<VecDeque<(Instant, Sample)>>,
}

impl RecentMetrics {
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, samples: Mutex::default() }
    }

    /// Reads the metrics for as long as the server runs.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let sample = (Instant::now(), Sample::of(&self.metrics.render()));
            let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            samples.push_back(sample);
            // Of those that are old enough the newest stays.
            while samples.get(1).is_some_and(|(at, _)| at.elapsed() >= AT_LEAST) {
                samples.pop_front();
            }
        }
    }

    /// The figures of the last ten to fifteen seconds.
    pub fn figures(&self) -> RecentFigures {
        let now = Sample::of(&self.metrics.render());
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let (elapsed, before) = samples.front().map_or((Duration::ZERO, &now), |(at, sample)| (at.elapsed(), sample));
        now.since(before, elapsed)
    }
}

/// The metrics that matter here, at one time.
#[derive(Debug, Default)]
struct Sample {
    requests: u64,
    failures: u64,
    request_times: Histogram,
    operations: BTreeMap<String, u64>,
    refused: u64,
    failed: u64,
    quota: u64,
    operation_times: Histogram,
    batches: u64,
    batched: u64,
    steps: BTreeMap<String, StepSum>,
    queue: u64,
    in_flight: u64,
}

/// The bounds of the buckets in microseconds (the largest number for the last one), and how many took at most so long.
type Histogram = BTreeMap<u64, u64>;

#[derive(Debug, Clone, Copy, Default)]
struct StepSum {
    batches: u64,
    micros: u64,
}

impl Sample {
    /// Reads the text that Prometheus reads.
    fn of(text: &str) -> Self {
        let mut sample = Self::default();
        for line in text.lines() {
            let Some(Line { name, labels, value }) = Line::read(line) else { continue };
            let label = |name| label(labels, name).unwrap_or_default();
            let add = |to: &mut u64| *to = to.saturating_add(count(value));
            match name {
                "requests_total" => {
                    add(&mut sample.requests);
                    if label("status").starts_with('5') {
                        add(&mut sample.failures);
                    }
                }
                "request_seconds_bucket" => add(sample.request_times.entry(micros(label("le"))).or_default()),
                "requests_in_flight" => add(&mut sample.in_flight),
                "ledger_operations_total" => {
                    add(sample.operations.entry(label("operation").to_owned()).or_default());
                    match label("outcome") {
                        "refused" => add(&mut sample.refused),
                        "busy" | "failed" => add(&mut sample.failed),
                        _ => {}
                    }
                }
                "ledger_quota_total" => add(&mut sample.quota),
                "ledger_wait_seconds_bucket" => add(sample.operation_times.entry(micros(label("le"))).or_default()),
                "ledger_batch_operations_count" => add(&mut sample.batches),
                "ledger_batch_operations_sum" => add(&mut sample.batched),
                "ledger_batch_seconds_count" => add(&mut sample.step(label("step")).batches),
                "ledger_batch_seconds_sum" => sample.step(label("step")).micros = micros(value),
                "ledger_queue" => add(&mut sample.queue),
                _ => {}
            }
        }
        sample
    }

    fn step(&mut self, name: &str) -> &mut StepSum {
        self.steps.entry(name.to_owned()).or_default()
    }

    fn since(&self, before: &Self, elapsed: Duration) -> RecentFigures {
        let step = |name: &'static str| {
            let [now, then] = [self, before].map(|sample| sample.steps.get(name).copied().unwrap_or_default());
            let (batches, micros) = (now.batches.saturating_sub(then.batches), now.micros.saturating_sub(then.micros));
            StepTime { step: name, mean: micros.checked_div(batches) }
        };
        let operations = self.operations.iter().map(|(name, count)| {
            (name.clone(), count.saturating_sub(before.operations.get(name).copied().unwrap_or_default()))
        });
        RecentFigures {
            milliseconds: elapsed.as_millis().try_into().unwrap_or(u64::MAX),
            requests: self.requests.saturating_sub(before.requests),
            failures: self.failures.saturating_sub(before.failures),
            request: Quantiles::between(&before.request_times, &self.request_times),
            operations: operations.filter(|(_, count)| *count > 0).collect(),
            refused: self.refused.saturating_sub(before.refused),
            failed: self.failed.saturating_sub(before.failed),
            quota: self.quota.saturating_sub(before.quota),
            operation: Quantiles::between(&before.operation_times, &self.operation_times),
            batches: self.batches.saturating_sub(before.batches),
            batched: self.batched.saturating_sub(before.batched),
            steps: STEPS.map(step).to_vec(),
            queue: self.queue,
            in_flight: self.in_flight,
        }
    }
}

impl Quantiles {
    fn between(before: &Histogram, now: &Histogram) -> Self {
        let new = now
            .iter()
            .map(|(bound, count)| (*bound, count.saturating_sub(before.get(bound).copied().unwrap_or_default())));
        let new: Vec<_> = new.collect();
        Self { p50: quantile(&new, 50), p99: quantile(&new, 99) }
    }
}

/// The time within which so many percent were, from the counts up to each bound; even within a bucket. Of what was
/// slower than all bounds only the last bound is known.
fn quantile(buckets: &[(u64, u64)], percent: u64) -> Option<u64> {
    let total = buckets.last().map(|(_, count)| *count).filter(|total| *total > 0)?;
    let rank = total.saturating_mul(percent).div_ceil(100);
    let (mut lower, mut below) = (0, 0);
    for (upper, upto) in buckets {
        if *upto >= rank {
            if *upper == u64::MAX {
                return Some(lower);
            }
            let (place, within) = (u128::from(rank - below), u128::from(upto - below));
            let part = u128::from(upper - lower) * place / within.max(1);
            return Some(lower.saturating_add(u64::try_from(part).unwrap_or(u64::MAX)));
        }
        (lower, below) = (*upper, *upto);
    }
    None
}

/// A line of the text: a metric of ours, its labels and its value.
struct Line<'a> {
    name: &'a str,
    labels: &'a str,
    value: &'a str,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (series, value) = line.strip_prefix("keymeter_")?.rsplit_once(' ')?;
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        Some(Self { name, labels, value })
    }
}

/// No label that is read here contains a quotation mark.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let (before, behind) = labels.split_once(&format!("{name}=\""))?;
    let begins = before.is_empty() || before.ends_with(',');
    behind.split_once('"').map(|(value, _)| value).filter(|_| begins)
}

/// A whole number, which may be written as `12.0`.
fn count(value: &str) -> u64 {
    value.split_once('.').map_or(value, |(whole, _)| whole).parse().unwrap_or_default()
}

/// Seconds as microseconds; the bound of the last bucket, which is infinite, as the largest number.
fn micros(value: &str) -> u64 {
    let seconds = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.map_or(u64::MAX, |time| time.as_micros().try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use prometheus_client::registry::Registry;

    use super::*;
    use crate::telemetry::ledger::{BatchStats, LedgerMetrics, OperationOutcome};
    use crate::telemetry::requests::HttpMetrics;

    #[test]
    fn figures_are_the_difference_of_two_times() {
        let mut registry = Registry::with_prefix("keymeter");
        let (http, ledger) = (HttpMetrics::register(&mut registry), LedgerMetrics::register(&mut registry));
        let recent = RecentMetrics::new(Arc::new(Metrics::new(registry)));
        let ms = Duration::from_millis;
        let act = |times: u64| {
            for _ in 0..times {
                http.answer(&http::Method::POST, "/api/gateway/{charge}", 200, ms(2));
                ledger.answered("charge", OperationOutcome::Ok, ms(2));
            }
            http.answer(&http::Method::GET, "/", 503, ms(400));
            ledger.answered("reserve", OperationOutcome::Refused, ms(400));
            let (lock, write, commit) = (ms(1), ms(3), ms(2));
            ledger.committed(BatchStats { operations: 8, quota: 70, shortfall: 0, lock, write, commit });
            ledger.flushed(ms(9));
        };
        act(5);
        let before = Sample::of(&recent.metrics.render());
        act(99);
        let found = Sample::of(&recent.metrics.render()).since(&before, ms(10_000));
        let operations = [("charge".to_owned(), 99), ("reserve".to_owned(), 1)];
        assert_eq!((found.requests, found.failures, found.milliseconds), (100, 1, 10_000));
        assert_eq!((found.operations, found.refused, found.failed), (BTreeMap::from(operations), 1, 0));
        assert_eq!((found.batches, found.batched, found.quota), (1, 8, 70));
        let steps: Vec<_> = found.steps.iter().map(|step| (step.step, step.mean)).collect();
        let means = [("lock", 1_000), ("write", 3_000), ("commit", 2_000), ("flush", 9_000)];
        assert_eq!(steps, means.map(|(step, mean)| (step, Some(mean))));
        // Between one and two and a half milliseconds, where 99 of 100 are.
        assert_eq!(found.request, Quantiles { p50: Some(1_757), p99: Some(2_500) });
        assert_eq!(found.operation, found.request);
    }

    #[test]
    fn what_is_slower_than_all_bounds_is_the_last_bound() {
        assert_eq!(quantile(&[(1_000, 0), (u64::MAX, 3)], 99), Some(1_000));
        assert_eq!(quantile(&[(1_000, 0), (u64::MAX, 0)], 99), None);
        assert_eq!(quantile(&[], 50), None);
    }
}
