//! The room on a disk.

use std::io;
use std::path::Path;

/// Bytes of the file system of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Free for this process.
    pub free: u64,
    pub total: u64,
}

impl DiskSpace {
    /// # Errors
    /// The directory does not exist, or may not be read.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let disk = rustix::fs::statvfs(directory)?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        Ok(Self { free: bytes(disk.f_bavail), total: bytes(disk.f_blocks) })
    }
}
