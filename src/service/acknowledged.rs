//! The last answers of this server, to be looked up when its database may have forgotten some.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::storage::acknowledged::Acknowledged;

/// How many answers are remembered.
const COUNT: usize = 100;

/// Older ones are not looked up: their rows may have been deleted for their age.
const OLDEST: Duration = Duration::from_hours(1);

/// The last answers that left a row.
#[derive(Debug, Default)]
pub struct LastAnswers(Mutex<VecDeque<(Instant, Acknowledged)>>);

impl LastAnswers {
    /// Remembers answers, the last one first.
    pub(super) fn remember(&self, newest_first: impl Iterator<Item = Acknowledged>) {
        let (now, mut answers) = (Instant::now(), self.lock());
        for (n, one) in newest_first.take(COUNT).enumerate() {
            let place = answers.len() - n;
            answers.insert(place, (now, one));
        }
        let surplus = answers.len().saturating_sub(COUNT);
        answers.drain(..surplus);
    }

    /// Those of the last hour, the oldest first.
    pub fn list(&self) -> Vec<Acknowledged> {
        let answers = self.lock();
        answers.iter().filter(|(at, _)| at.elapsed() < OLDEST).map(|(_, one)| one.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, Acknowledged)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::ReservationId;

    #[test]
    fn the_last_hundred_are_kept_in_their_order() {
        let answers = LastAnswers::default();
        let one = |id| Acknowledged::Reserved(ReservationId::new(id));
        answers.remember([3, 2, 1].map(one).into_iter());
        answers.remember([5, 4].map(one).into_iter());
        assert_eq!(answers.list(), [1, 2, 3, 4, 5].map(one));
        answers.remember((6..206).rev().map(one));
        assert_eq!(answers.list(), (106..206).map(one).collect::<Vec<_>>());
    }
}
