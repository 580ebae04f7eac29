//! Lines of the log about what goes on for long.

use std::time::{Duration, Instant};

/// How often such a line is written.
const EVERY: Duration = Duration::from_secs(10);

/// Says when such a line is due: at once, and then every ten seconds.
#[derive(Debug, Default)]
pub struct Seldom {
    last: Option<Instant>,
}

impl Seldom {
    /// Returns true if the caller writes the line now.
    pub fn is_due(&mut self) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= EVERY);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }
}
