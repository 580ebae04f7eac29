//! The one clock: the time is the database's, and ages are measured by the uptime of this machine.
//!
//! The wall clocks of servers decide nothing: they can be wrong, and each of them differently. Every server reads the
//! database's clock each second and carries it on by its uptime until the next reading. No other file reads a clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::bounds;
use super::time::{Micros, UnixTime};

/// How long this machine has been running, in microseconds. It never moves back, also runs while the machine is
/// suspended, and no one can set it. Only differences have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uptime(i64);

impl Uptime {
    pub const fn new(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to this; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The uptime of this machine.
    fn of_this_machine() -> Self {
        // The only clock of Linux that runs in suspend and cannot be set; on other systems, the monotonic one.
        #[cfg(target_os = "linux")]
        let clock = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let clock = ClockId::Monotonic;
        let at = clock_gettime(clock);
        Self(at.tv_sec.saturating_mul(Micros::PER_SECOND).saturating_add(at.tv_nsec / 1_000))
    }
}

/// The source of the time and of the uptime.
pub trait Clock: Send + Sync {
    /// For everything that is decided by the time or stored.
    fn micros(&self) -> Micros;

    /// For ages, waits, caches and limiters in memory.
    fn uptime(&self) -> Uptime;

    fn now(&self) -> UnixTime {
        self.micros().seconds()
    }

    /// Returns false if the database's clock was not read for so long that it must be read again before a key is
    /// judged.
    fn is_current(&self) -> bool {
        true
    }

    /// How long the database has answered this server without a break, by a clock that nobody set; not at all if this
    /// clock does not read it.
    fn reachable_for(&self) -> Duration {
        Duration::ZERO
    }

    /// The database's clock could not be read.
    fn missed(&self) {}

    /// Takes a reading of the database's clock. Returns by how many microseconds the time moved, if that clock was set.
    fn correct(&self, _reading: Reading) -> Option<i64> {
        None
    }
}

impl std::fmt::Debug for dyn Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clock({})", self.now().get())
    }
}

/// A reading of the database's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The uptime when it was asked for.
    pub asked_at: Uptime,
    /// The database's time, at some point between the two uptimes.
    pub time: Micros,
    /// The uptime when the answer was here.
    pub answered_at: Uptime,
}

impl Reading {
    /// The least and the most by which the database's time is ahead of the uptime.
    const fn offsets(self) -> (i64, i64) {
        let time = self.time.get();
        (time.saturating_sub(self.answered_at.get()), time.saturating_sub(self.asked_at.get()))
    }

    /// The most likely offset.
    const fn offset(self) -> i64 {
        let (least, most) = self.offsets();
        least.saturating_add(most.saturating_sub(least) / 2)
    }

    /// How long the database took to answer. The shorter, the more exact the reading.
    fn round_trip(self) -> Duration {
        self.answered_at.since(self.asked_at)
    }

    /// Returns true if one steady clock can have given both readings.
    fn agrees_with(self, earlier: Self) -> bool {
        let (least, most) = self.offsets();
        let (least_before, most_before) = earlier.offsets();
        let apart = self.answered_at.since(earlier.answered_at).as_micros() / DRIFT;
        let drift = i64::try_from(apart).unwrap_or(i64::MAX).saturating_add(Micros::PER_SECOND / 1_000);
        least <= most_before.saturating_add(drift) && most.saturating_add(drift) >= least_before
    }

    /// The reading to go by after one more: the one with the shortest round trip, unless it is too old or the clock was
    /// set since.
    fn or_newer(self, newer: Self) -> Self {
        let is_old = newer.answered_at.since(self.answered_at) > bounds::CLOCK_READING_KEPT;
        if is_old || newer.round_trip() <= self.round_trip() || !newer.agrees_with(self) { newer } else { self }
    }
}

/// A steady clock is wrong by at most one part in this many.
const DRIFT: u128 = 2_000;

/// The database's clock, carried on by the uptime since it was read.
#[derive(Debug)]
pub struct DatabaseClock {
    /// The reading that the offset comes from.
    kept: Mutex<Reading>,
    /// The time is the uptime plus this.
    offset: AtomicI64,
    /// The uptime of the newest reading.
    read_at: AtomicI64,
    /// The uptime of the first reading after the last break; [`UNREACHABLE`] during one. A clock that was set is a
    /// break too: what it says of the past may be wrong.
    reachable_since: AtomicI64,
}

/// An uptime that never comes.
const UNREACHABLE: i64 = i64::MAX;

impl DatabaseClock {
    /// A clock that goes by this reading.
    pub const fn new(reading: Reading) -> Self {
        Self {
            kept: Mutex::new(reading),
            offset: AtomicI64::new(reading.offset()),
            read_at: AtomicI64::new(reading.answered_at.get()),
            reachable_since: AtomicI64::new(reading.answered_at.get()),
        }
    }

    /// How long the database had been reachable at an uptime.
    fn reachable_for_at(&self, uptime: Uptime) -> Duration {
        let since = Uptime(self.reachable_since.load(Ordering::SeqCst));
        if self.is_current_at(uptime) { uptime.since(since) } else { Duration::ZERO }
    }

    /// Whether it is current at an uptime.
    fn is_current_at(&self, uptime: Uptime) -> bool {
        uptime.since(Uptime(self.read_at.load(Ordering::SeqCst))) < bounds::CLOCK_CURRENT
    }
}

impl Clock for DatabaseClock {
    fn micros(&self) -> Micros {
        Micros::new(self.uptime().get().saturating_add(self.offset.load(Ordering::SeqCst)))
    }

    fn uptime(&self) -> Uptime {
        Uptime::of_this_machine()
    }

    fn is_current(&self) -> bool {
        self.is_current_at(self.uptime())
    }

    fn correct(&self, reading: Reading) -> Option<i64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = (!reading.agrees_with(*kept)).then(|| reading.offset().saturating_sub(kept.offset()));
        *kept = kept.or_newer(reading);
        // While a machine was suspended, no reading failed, and yet nobody could reach it.
        let is_after_break = self.reachable_since.load(Ordering::SeqCst) == UNREACHABLE;
        if moved.is_some() || is_after_break || !self.is_current_at(reading.answered_at) {
            self.reachable_since.store(reading.answered_at.get(), Ordering::SeqCst);
        }
        // Last: who reads the new time sees the break too.
        self.offset.store(kept.offset(), Ordering::SeqCst);
        self.read_at.fetch_max(reading.answered_at.get(), Ordering::SeqCst);
        moved
    }

    fn reachable_for(&self) -> Duration {
        self.reachable_for_at(self.uptime())
    }

    fn missed(&self) {
        self.reachable_since.store(UNREACHABLE, Ordering::SeqCst);
    }
}

/// This machine's own wall clock. It only tells whether the database's clock is plausible.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the wall clock")]
    fn micros(&self) -> Micros {
        Micros::new(chrono::Utc::now().timestamp_micros())
    }

    fn uptime(&self) -> Uptime {
        Uptime::of_this_machine()
    }
}

/// A clock that is moved by hand, for tests and for the demo.
#[derive(Debug)]
pub struct ManualClock {
    time: AtomicI64,
    uptime: AtomicI64,
    reachable_since: AtomicI64,
}

impl ManualClock {
    pub const fn at(start: UnixTime) -> Self {
        let time = AtomicI64::new(start.get().saturating_mul(Micros::PER_SECOND));
        Self { time, uptime: AtomicI64::new(0), reachable_since: AtomicI64::new(0) }
    }

    /// Lets time pass.
    pub fn advance(&self, seconds: i64) {
        self.add(seconds);
        self.uptime.fetch_add(seconds.saturating_mul(Micros::PER_SECOND), Ordering::SeqCst);
    }

    /// Moves the time alone, as if someone had set the clock; negative: back.
    pub fn set_ahead(&self, seconds: i64) {
        self.missed();
        self.add(seconds);
    }

    fn add(&self, seconds: i64) {
        self.time.fetch_add(seconds.saturating_mul(Micros::PER_SECOND), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn micros(&self) -> Micros {
        Micros::new(self.time.load(Ordering::SeqCst))
    }

    fn uptime(&self) -> Uptime {
        Uptime(self.uptime.load(Ordering::SeqCst))
    }

    fn reachable_for(&self) -> Duration {
        self.uptime().since(Uptime(self.reachable_since.load(Ordering::SeqCst)))
    }

    /// The database answers again at once.
    fn missed(&self) {
        self.reachable_since.store(self.uptime().get(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reading at `asked_at` seconds of uptime that took `millis`.
    fn reading(asked_at: i64, millis: i64, time: i64) -> Reading {
        let asked_at = asked_at * Micros::PER_SECOND;
        Reading { asked_at: Uptime(asked_at), time: Micros::new(time), answered_at: Uptime(asked_at + millis * 1_000) }
    }

    /// The reading of a clock that is `ahead` microseconds ahead of the uptime, in the middle of the round trip.
    fn fair(asked_at: i64, millis: i64, ahead: i64) -> Reading {
        reading(asked_at, millis, asked_at * Micros::PER_SECOND + millis * 500 + ahead)
    }

    #[test]
    fn the_reading_with_the_shortest_round_trip_counts() {
        let clock = DatabaseClock::new(fair(10, 40, 5_000));
        assert_eq!(clock.offset.load(Ordering::SeqCst), 5_000);
        assert_eq!(clock.correct(fair(11, 2, 4_000)), None, "within the round trip of the first");
        assert_eq!(clock.offset.load(Ordering::SeqCst), 4_000);
        assert_eq!(clock.correct(fair(12, 30, 9_000)), None, "less exact");
        assert_eq!(clock.offset.load(Ordering::SeqCst), 4_000);
        // Clocks drift, so no reading counts for ever.
        assert_eq!(clock.correct(fair(80, 30, 9_000)), None);
        assert_eq!(clock.offset.load(Ordering::SeqCst), 9_000);
    }

    #[test]
    fn a_clock_that_was_set_counts_at_once_also_if_the_answer_took_long() {
        const DAY: i64 = 86_400_000_000;
        let clock = DatabaseClock::new(fair(10, 1, 0));
        assert_eq!(clock.correct(fair(11, 900, 40 * DAY)), Some(40 * DAY));
        assert_eq!(clock.offset.load(Ordering::SeqCst), 40 * DAY);
        assert_eq!(clock.correct(fair(12, 900, 0)), Some(-40 * DAY));
        assert_eq!(clock.offset.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_reading_is_current_for_five_seconds_of_uptime_whichever_reading_counts() {
        let clock = DatabaseClock::new(fair(10, 1, 0));
        let at = |seconds| clock.is_current_at(Uptime(seconds * Micros::PER_SECOND));
        assert_eq!([10, 14, 15].map(at), [true, true, true], "the round trip counts");
        assert!(!at(16));
        clock.correct(fair(14, 50, 0));
        assert_eq!([16, 19, 20].map(at), [true, true, false], "a less exact reading is a reading too");
    }

    #[test]
    fn the_database_is_reachable_since_the_first_reading_after_the_last_break() {
        let clock = DatabaseClock::new(fair(10, 2, 0));
        let reachable = |at: i64| clock.reachable_for_at(Uptime(at * Micros::PER_SECOND)).as_millis();
        assert_eq!([10, 12].map(reachable), [0, 1_998]);
        for at in 11..20 {
            clock.correct(fair(at, 2, 0));
        }
        assert_eq!(reachable(20), 9_998);
        assert_eq!(reachable(25), 0, "no reading for five seconds");
        clock.correct(fair(25, 2, 0));
        assert_eq!([26, 27].map(reachable), [998, 1_998], "counted from the first reading after that");
        clock.missed();
        assert_eq!(reachable(27), 0);
        clock.missed();
        clock.correct(fair(28, 2, 0));
        clock.correct(fair(29, 2, 0));
        assert_eq!(reachable(31), 2_998);
    }

    #[test]
    fn a_clock_that_was_set_begins_a_new_break_in_either_direction() {
        let clock = DatabaseClock::new(fair(10, 2, 0));
        let reachable = |at: i64| clock.reachable_for_at(Uptime(at * Micros::PER_SECOND)).as_millis();
        clock.correct(fair(12, 2, 0));
        assert_eq!(reachable(13), 2_998);
        for (at, ahead) in [(13, 720_000_000), (15, 0), (17, -720_000_000)] {
            clock.correct(fair(at, 2, ahead));
            clock.correct(fair(at + 1, 2, ahead));
            assert_eq!(reachable(at + 2), 1_998, "set to {ahead}");
        }
    }

    #[test]
    fn the_database_clock_is_carried_on_by_the_uptime() {
        let up = Uptime::of_this_machine();
        let clock = DatabaseClock::new(Reading { asked_at: up, time: Micros::new(1_000_000_000), answered_at: up });
        assert!(clock.is_current());
        let (before, uptime) = (clock.micros(), clock.uptime());
        assert!(before >= Micros::new(1_000_000_000) && uptime >= up);
        assert!(clock.micros() >= before);
    }

    #[test]
    fn ages_are_never_negative() {
        assert_eq!(Uptime(5).since(Uptime(3)), Duration::from_micros(2));
        assert_eq!(Uptime(3).since(Uptime(5)), Duration::ZERO);
    }

    #[test]
    fn the_system_clock_counts_from_1970() {
        let year_2026 = UnixTime::new(1_767_225_600);
        assert!(SystemClock.now() >= year_2026);
        assert!(SystemClock.uptime() >= Uptime(0) && SystemClock.is_current());
    }

    #[test]
    fn a_manual_clock_moves_only_when_told_to_and_its_time_can_be_set_alone() {
        let clock = ManualClock::at(UnixTime::new(100));
        let started = clock.uptime();
        clock.advance(5);
        assert_eq!((clock.now(), clock.uptime().since(started)), (UnixTime::new(105), Duration::from_secs(5)));
        clock.set_ahead(-50);
        assert_eq!((clock.now(), clock.uptime().since(started)), (UnixTime::new(55), Duration::from_secs(5)));
        assert_eq!(format!("{:?}", &clock as &dyn Clock), "Clock(55)");
    }

    proptest! {
        /// However long each answer takes, and wherever in the round trip the clock is read: while it runs evenly, the
        /// estimate is never off by more than half the shortest round trip of the kept ones, and no jump is reported.
        #[test]
        fn the_estimate_of_a_steady_clock_is_as_exact_as_its_best_reading(
            ahead in -1_000_000_000_000_i64..1_000_000_000_000,
            trips in prop::collection::vec((1_i64..2_000, 0_i64..=100), 1..50),
        ) {
            let mut clock: Option<DatabaseClock> = None;
            for (second, (millis, percent)) in (1_i64..).zip(trips) {
                let asked = second * Micros::PER_SECOND;
                let now = reading(second, millis, asked + millis * 10 * percent + ahead);
                match &clock {
                    None => clock = Some(DatabaseClock::new(now)),
                    Some(clock) => {
                        prop_assert_eq!(clock.correct(now), None);
                        let kept = *clock.kept.lock().unwrap();
                        let wrong = (clock.offset.load(Ordering::SeqCst) - ahead).abs();
                        prop_assert!(wrong <= i64::try_from(kept.round_trip().as_micros()).unwrap() / 2 + 1);
                        prop_assert!(kept.round_trip() <= now.round_trip());
                    }
                }
            }
        }
    }
}
