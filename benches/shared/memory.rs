//! The memory of a process, on Linux.

/// A field of `/proc/PID/status` in KiB: `VmRSS` (resident now) or `VmHWM` (its peak). `None` where there is no such
/// file, or the process is gone.
pub fn kibibytes(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}
