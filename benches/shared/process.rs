//! Memory and processor time of a process, on Linux.

/// A field of `/proc/PID/status` in KiB: `VmRSS` (resident now) or `VmHWM` (its peak). `None` where there is no such
/// file, or the process is gone.
pub fn kibibytes(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Processor time that a process and its ended children took, in microseconds; 0 where it is not known.
#[allow(dead_code, reason = "not every program that includes this file measures it")]
pub fn cpu_micros(pid: u32) -> f64 {
    // Linux counts in hundredths of a second here, on every architecture.
    const MICROS_PER_TICK: f64 = 10_000.0;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before the closing bracket may contain anything. utime to cstime are fields 14 to 17.
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11).take(4);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * MICROS_PER_TICK
}

/// The processes that a process started and that still run.
#[allow(dead_code, reason = "not every program that includes this file measures it")]
pub fn children(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
