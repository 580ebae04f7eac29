//! How many requests ended, and how.

use std::sync::atomic::{AtomicU64, Ordering};

use keymeter_meter::answer_meter::Charge;

/// Requests that ended, by what was charged.
#[derive(Debug, Default)]
pub struct Ended([AtomicU64; 4]);

const LABELS: [&str; 4] = ["{charged=\"nothing\"}", "{charged=\"hold\"}", "{charged=\"units\"}", "{charged=\"told\"}"];

impl Ended {
    pub fn count(&self, charge: &Charge) {
        let [nothing, hold, units, told] = &self.0;
        let counter = match charge {
            Charge::Nothing => nothing,
            Charge::Hold => hold,
            Charge::Units => units,
            Charge::Told(_) => told,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Each number after its label, as a metric has it.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        LABELS.into_iter().zip(&self.0).map(|(label, count)| (label, count.load(Ordering::Relaxed))).collect()
    }
}
