//! The metrics of the process that Prometheus' own libraries have, under their names. Linux tells them; elsewhere they
//! are absent.

use std::time::{Duration, SystemTime};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

/// Reads the process when the metrics are read.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    started: SystemTime,
}

impl ProcessMetrics {
    #[expect(clippy::disallowed_methods, reason = "the start of the process is told by the clock of its machine")]
    pub(super) fn new() -> Self {
        Self { started: SystemTime::now() }
    }
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let since_epoch = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
        let mut gauge = |name, help, unit: Option<&Unit>, value: i64| {
            let family = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
            ConstGauge::new(value).encode(family)
        };
        gauge("process_start_time", "When the process started", Some(&Unit::Seconds), seconds)?;
        if let Some(kib) = line_of("/proc/self/status", "VmRSS:") {
            gauge("process_resident_memory", "Memory of the process", Some(&Unit::Bytes), kib.saturating_mul(1_024))?;
        }
        if let Some(files) = open_files() {
            gauge("process_open_fds", "Open files of the process", None, files)?;
        }
        if let Some(most) = line_of("/proc/self/limits", "Max open files") {
            gauge("process_max_fds", "The most files that the process may open", None, most)?;
        }
        if let Some(time) = cpu_time() {
            let help = "Time of processors that the process has used";
            let family = encoder.encode_descriptor("process_cpu", help, Some(&Unit::Seconds), MetricType::Counter)?;
            ConstCounter::new(time.as_secs_f64()).encode(family)?;
        }
        Ok(())
    }
}

/// The first number behind a label in a file of `/proc`.
fn line_of(file: &str, label: &str) -> Option<i64> {
    let text = std::fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn open_files() -> Option<i64> {
    // One of them reads the directory.
    i64::try_from(std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1)).ok()
}

fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name of the program, which may contain anything, comes the third field; times are 14 and 15.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    // A tick is a hundredth of a second for every program on Linux.
    Some(Duration::from_millis(ticks()?.saturating_add(ticks()?).saturating_mul(10)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_all_of_them() {
        assert!(line_of("/proc/self/status", "VmRSS:").is_some_and(|kib| kib > 100));
        assert!(line_of("/proc/self/limits", "Max open files").is_some_and(|most| most > 10));
        assert!(open_files().is_some_and(|files| files > 2));
        assert!(cpu_time().is_some());
    }
}
