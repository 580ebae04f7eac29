//! L9: period limits, rates and concurrency, as tables and against a plain model.

use std::collections::BTreeMap;

use chrono::Weekday;
use chrono_tz::Tz;
use proptest::prelude::*;

use super::properties::open_holds;
use super::*;
use crate::domain::calendar::{Calendar, Moment, Period};
use crate::domain::limit_change::LimitChange;
use crate::domain::period_limits::{PeriodCounters, PeriodExceeded, PeriodLimits, PeriodLimitsPatch};
use crate::domain::rate_limits::{RateExceeded, RateLimits};
use crate::domain::time::{DAY, Day, Micros};

/// 2026-11-22 00:00 UTC, a Sunday.
const SUNDAY: i64 = 1_795_305_600;

fn at(seconds: i64) -> Moment {
    Moment::new(Micros::new(seconds * Micros::PER_SECOND), Calendar { zone: Tz::UTC, week_starts: Weekday::Mon })
}

fn limited(day: i64, week: i64, month: i64) -> PeriodLimits {
    let limit = |units| (units >= 0).then(|| quota(units));
    PeriodLimits { day: limit(day), week: limit(week), month: limit(month) }
}

fn with_limits(of_token: PeriodLimits, of_user: PeriodLimits) -> Balances {
    let mut balances = balances(1_000, 1_000);
    balances.tokens.get_mut(&TOKEN).unwrap().account.period_limits = of_token;
    balances.wallets.get_mut(&UserId::new(1)).unwrap().account.period_limits = of_user;
    balances
}

fn charge(balances: &mut Balances, units: i64, at: &Moment) -> Result<(), Refusal> {
    balances.charge(TOKEN, quota(units), 0, &RequestContext::default(), at)
}

fn hold(balances: &mut Balances, units: i64, at: &Moment) -> Result<ReservationId, Refusal> {
    let made = balances.reserve(
        MAKER,
        TOKEN,
        quota(units),
        &RequestContext::default(),
        (at.now.plus(600), OnExpiry::Release),
        at,
    )?;
    let id = ReservationId::new(i64::try_from(balances.reservations.len()).unwrap() + 1);
    balances.reservations.insert(id, made);
    Ok(id)
}

fn settle(balances: &mut Balances, id: ReservationId, units: i64, at: &Moment) {
    balances.settle(MAKER, id, quota(units), 0, at).unwrap();
}

fn counters(balances: &Balances) -> (PeriodCounters, PeriodCounters) {
    (balances.tokens[&TOKEN].account.period_counters, balances.wallets[&UserId::new(1)].account.period_counters)
}

#[test]
fn l9_a_limit_admits_exactly_its_amount_until_its_period_ends() {
    let none = PeriodLimits::default();
    // The limits, and how many seconds after Sunday 00:00 the period ends.
    let table = [
        (limited(100, -1, -1), Period::Day, DAY),
        (limited(-1, 100, -1), Period::Week, DAY),
        (limited(-1, -1, 100), Period::Month, 9 * DAY),
        // The one that ends last says when to retry.
        (limited(100, 100, 100), Period::Month, 9 * DAY),
        (limited(100, 100, 1_000), Period::Day, DAY),
    ];
    for (limits, period, length) in table {
        for of_user in [false, true] {
            let refusal = if of_user { RefusalReason::UserPeriodExceeded } else { RefusalReason::TokenPeriodExceeded };
            let refusal = |exceeded| Refusal::period(refusal, exceeded);
            let mut balances = if of_user { with_limits(none, limits) } else { with_limits(limits, none) };
            charge(&mut balances, 60, &at(SUNDAY)).unwrap();
            let exceeded = |used| PeriodExceeded {
                period,
                limit: quota(100),
                used: quota(used),
                resets_at: UnixTime::new(SUNDAY + length),
                retry_after: Some(length),
            };
            assert_eq!(charge(&mut balances, 41, &at(SUNDAY)), Err(refusal(exceeded(60))), "{limits:?}");
            charge(&mut balances, 40, &at(SUNDAY)).unwrap();
            assert_eq!(charge(&mut balances, 1, &at(SUNDAY)), Err(refusal(exceeded(100))), "{limits:?}");
            let last = PeriodExceeded { retry_after: Some(1), ..exceeded(100) };
            assert_eq!(charge(&mut balances, 1, &at(SUNDAY + length - 1)), Err(refusal(last)), "{limits:?}");
            charge(&mut balances, 100, &at(SUNDAY + length)).unwrap();
        }
    }
}

#[test]
fn of_several_limits_that_are_exceeded_the_one_that_ends_last_is_named() {
    let day = |limit, retry_after| (Period::Day, limit, retry_after);
    let month = |limit, retry_after| (Period::Month, limit, retry_after);
    let (today, this_month) = (Some(DAY), Some(9 * DAY));
    // Limits of the token and of its owner, a cost after 90 were used, whether the owner's limit is named, and which.
    let table = [
        (limited(100, -1, -1), limited(-1, -1, 100), 20, true, month(100, this_month)),
        (limited(-1, -1, 100), limited(100, -1, -1), 20, false, month(100, this_month)),
        (limited(100, -1, -1), limited(95, -1, -1), 20, false, day(100, today)),
        // The week and the day end together: the shorter one.
        (limited(100, 100, -1), limited(-1, 100, -1), 20, false, day(100, today)),
        // A limit that is smaller than the cost never ends.
        (limited(100, -1, -1), limited(-1, -1, 150), 101, false, day(100, None)),
        (limited(-1, -1, 150), limited(100, -1, -1), 101, true, day(100, None)),
        (limited(100, -1, 100), limited(-1, -1, -1), 101, false, month(100, None)),
        (limited(99, -1, 110), limited(-1, -1, -1), 100, false, day(99, None)),
        (limited(0, -1, -1), limited(-1, -1, 90), 0, false, day(0, None)),
    ];
    for (of_token, of_user, cost, is_owners, (period, limit, retry_after)) in table {
        let mut balances = with_limits(PeriodLimits::default(), PeriodLimits::default());
        charge(&mut balances, 90, &at(SUNDAY)).unwrap();
        balances.tokens.get_mut(&TOKEN).unwrap().account.period_limits = of_token;
        balances.wallets.get_mut(&UserId::new(1)).unwrap().account.period_limits = of_user;
        let resets_at = UnixTime::new(SUNDAY + if period == Period::Month { 9 * DAY } else { DAY });
        let exceeded = PeriodExceeded { period, limit: quota(limit), used: quota(90), resets_at, retry_after };
        let named = if is_owners { RefusalReason::UserPeriodExceeded } else { RefusalReason::TokenPeriodExceeded };
        assert_eq!(
            charge(&mut balances, cost, &at(SUNDAY)),
            Err(Refusal::period(named, exceeded)),
            "{of_token:?} {of_user:?} {cost}"
        );
    }
}

#[test]
fn l9_a_limit_of_zero_admits_nothing_and_a_lowered_one_nothing_until_the_period_ends() {
    let mut balances = with_limits(limited(0, -1, -1), PeriodLimits::default());
    assert!(charge(&mut balances, 0, &at(SUNDAY)).is_err());
    let set = |balances: &mut Balances, day| {
        let token = balances.tokens.get_mut(&TOKEN).unwrap();
        let patch = PeriodLimitsPatch { day, ..PeriodLimitsPatch::default() };
        token.account.period_limits = token.account.period_limits.edited(patch);
    };
    set(&mut balances, LimitChange::Remove);
    charge(&mut balances, 80, &at(SUNDAY)).unwrap();
    set(&mut balances, LimitChange::Set(quota(50)));
    assert!(charge(&mut balances, 0, &at(SUNDAY)).is_err());
    set(&mut balances, LimitChange::Set(quota(80)));
    assert!(charge(&mut balances, 0, &at(SUNDAY)).is_ok());
    set(&mut balances, LimitChange::Set(quota(50)));
    charge(&mut balances, 50, &at(SUNDAY + DAY)).unwrap();
}

#[test]
fn l9_open_reservations_count_in_every_period_until_they_end() {
    let mut balances = with_limits(limited(100, -1, -1), PeriodLimits::default());
    let first = hold(&mut balances, 70, &at(SUNDAY)).unwrap();
    assert!(hold(&mut balances, 31, &at(SUNDAY)).is_err());
    assert!(hold(&mut balances, 31, &at(SUNDAY + DAY)).is_err(), "it is open across midnight");
    let second = hold(&mut balances, 30, &at(SUNDAY + DAY)).unwrap();
    balances.release(MAKER, second).unwrap();
    // Settled beyond its hold and beyond the limit: it was admitted when it began.
    settle(&mut balances, first, 120, &at(SUNDAY + DAY));
    let (of_token, of_wallet) = counters(&balances);
    assert_eq!(of_token, of_wallet);
    assert_eq!((of_token.day, of_token.day_used), (at(SUNDAY + DAY).today, quota(120)));
    assert_eq!(balances.tokens[&TOKEN].account.held, Quota::ZERO);
    assert!(charge(&mut balances, 0, &at(SUNDAY + DAY)).is_err());
}

#[test]
fn l9_a_server_whose_clock_is_behind_reopens_no_day() {
    let mut balances = with_limits(limited(100, -1, -1), PeriodLimits::default());
    charge(&mut balances, 100, &at(SUNDAY)).unwrap();
    charge(&mut balances, 90, &at(SUNDAY + DAY)).unwrap();
    assert!(charge(&mut balances, 11, &at(SUNDAY + DAY - 1)).is_err());
    charge(&mut balances, 10, &at(SUNDAY + DAY - 1)).unwrap();
    assert_eq!(balances.charge_day(TOKEN, &at(SUNDAY)), at(SUNDAY + DAY).today);
    assert!(charge(&mut balances, 1, &at(SUNDAY + DAY)).is_err());
}

#[test]
fn l9_a_day_that_began_for_the_wallet_has_begun_for_all_its_tokens() {
    let mut balances = with_limits(limited(100, -1, -1), PeriodLimits::default());
    balances.tokens.extend([locked(2, 1, Budget::new(Quota::ZERO, true))]);
    charge(&mut balances, 100, &at(SUNDAY)).unwrap();
    let other = TokenId::new(2);
    set_policy(&mut balances, other, TokenPolicy::default());
    let context = RequestContext::default();
    balances.charge(other, quota(1), 0, &context, &at(SUNDAY + DAY)).unwrap();
    charge(&mut balances, 100, &at(SUNDAY + DAY - 1)).unwrap();
    let (of_token, of_wallet) = counters(&balances);
    assert_eq!((of_token.day, of_token.day_used), (of_wallet.day, quota(100)));
    assert_eq!(of_wallet.day_used, quota(101));
}

#[test]
fn refused_requests_count_neither_as_requests_nor_as_open_reservations() {
    let mut balances = with_limits(limited(10, -1, -1), PeriodLimits::default());
    balances.tokens.get_mut(&TOKEN).unwrap().rate_limits =
        RateLimits { requests_per_minute: Some(3), concurrency: Some(1), ..RateLimits::default() };
    for _ in 0..10 {
        let refused = hold(&mut balances, 11, &at(SUNDAY)).unwrap_err();
        assert_eq!(refused.reason, RefusalReason::TokenPeriodExceeded);
    }
    let first = hold(&mut balances, 1, &at(SUNDAY)).unwrap();
    for _ in 0..10 {
        assert_eq!(hold(&mut balances, 1, &at(SUNDAY)), Err(Refusal::concurrency(1)));
    }
    settle(&mut balances, first, 1, &at(SUNDAY));
    let second = hold(&mut balances, 1, &at(SUNDAY)).unwrap();
    assert_eq!(balances.expire(second, &at(SUNDAY + 600)), Ok(Effect::Applied));
    charge(&mut balances, 1, &at(SUNDAY)).unwrap();
    let refused = Refusal::from(RateExceeded::Requests { limit: 3, retry_after: Some(20) });
    assert_eq!(charge(&mut balances, 1, &at(SUNDAY)), Err(refused));
    assert_eq!(balances.tokens[&TOKEN].rate_counters.open_reservations, 0);
    balances.tokens.get_mut(&TOKEN).unwrap().rate_limits = RateLimits { concurrency: Some(0), ..RateLimits::default() };
    assert_eq!(hold(&mut balances, 1, &at(SUNDAY)), Err(Refusal::concurrency(0)));
}

#[test]
fn model_tokens_count_when_they_are_charged_or_settled() {
    let mut balances = with_limits(PeriodLimits::default(), PeriodLimits::default());
    balances.tokens.get_mut(&TOKEN).unwrap().rate_limits =
        RateLimits { tokens_per_minute: Some(100), ..RateLimits::default() };
    let first = hold(&mut balances, 1, &at(SUNDAY)).unwrap();
    balances.settle(MAKER, first, quota(1), 60, &at(SUNDAY)).unwrap();
    balances.charge(TOKEN, quota(1), 60, &RequestContext::default(), &at(SUNDAY)).unwrap();
    let refused = Refusal::from(RateExceeded::Tokens { limit: 100, retry_after: Some(13) });
    assert_eq!(charge(&mut balances, 1, &at(SUNDAY)), Err(refused));
    assert_eq!(charge(&mut balances, 1, &at(SUNDAY + 13)), Ok(()));
}

#[derive(Debug, Clone)]
enum Action {
    Charge { token: i64, units: i64 },
    Reserve { token: i64, units: i64 },
    Settle { nth: prop::sample::Index, units: i64 },
    Release { nth: prop::sample::Index },
    Limit { token: i64, period: usize, units: Option<i64> },
    LimitUser { period: usize, units: Option<i64> },
}

/// What happens, how much later than the action before, and by how much the clock of the server is wrong.
fn actions() -> impl Strategy<Value = Vec<(Action, i64, i64)>> {
    let units = || prop_oneof![4 => 0_i64..60, 1 => Just(0)];
    let limit = || prop::option::of(prop_oneof![6 => 0_i64..200, 1 => Just(0)]);
    let token = || 1_i64..=2;
    let nth = any::<prop::sample::Index>;
    let action = prop_oneof![
        8 => (token(), units()).prop_map(|(token, units)| Action::Charge { token, units }),
        4 => (token(), units()).prop_map(|(token, units)| Action::Reserve { token, units }),
        3 => (nth(), units()).prop_map(|(nth, units)| Action::Settle { nth, units }),
        1 => nth().prop_map(|nth| Action::Release { nth }),
        2 => (token(), 0..3_usize, limit()).prop_map(|(token, period, units)| Action::Limit { token, period, units }),
        1 => (0..3_usize, limit()).prop_map(|(period, units)| Action::LimitUser { period, units }),
    ];
    let later = prop_oneof![4 => Just(0_i64), 4 => 0_i64..7_200, 3 => 0..2 * DAY, 1 => 0..40 * DAY];
    let wrong = prop_oneof![6 => Just(0_i64), 2 => -120_i64..120, 1 => -DAY..DAY];
    prop::collection::vec((action, later, wrong), 1..120)
}

/// A limit as the model keeps it.
type Limits = [Option<i64>; 3];

fn patch(period: usize, units: Option<i64>) -> PeriodLimitsPatch {
    let change = |nth| match units {
        _ if nth != period => LimitChange::Keep,
        None => LimitChange::Remove,
        Some(units) => LimitChange::Set(quota(units)),
    };
    PeriodLimitsPatch { day: change(0), week: change(1), month: change(2) }
}

proptest! {
    /// The model keeps the list of all charges and open holds, and adds them up for each decision.
    #[test]
    fn l9_admission_and_counters_are_what_the_list_of_charges_says(
        actions in actions(),
        zone in prop::sample::select(vec![Tz::UTC, Tz::Europe__Berlin, Tz::America__Sao_Paulo, Tz::Asia__Beirut, Tz::Australia__Lord_Howe]),
        week_starts in prop::sample::select(vec![Weekday::Mon, Weekday::Sun, Weekday::Sat]),
        start in 1_700_000_000_i64..1_900_000_000,
    ) {
        let calendar = Calendar { zone, week_starts };
        let tokens = [locked(1, 1, Budget::new(Quota::ZERO, true)), locked(2, 1, Budget::new(quota(1_000_000), false))];
        let wallets = BTreeMap::from([(UserId::new(1), wallet(bounds::MAX_QUOTA))]);
        let mut balances = with_policies(BTreeMap::from(tokens), wallets);
        let mut limits: BTreeMap<i64, Limits> = BTreeMap::from([(1, [None; 3]), (2, [None; 3])]);
        let mut user_limits: Limits = [None; 3];
        let mut charges: Vec<(i64, Day, i64)> = Vec::new();
        let mut latest_day = Day::FIRST;
        let mut clock = start;
        for (action, later, wrong) in actions {
            clock += later;
            let at = Moment::new(Micros::new((clock + wrong) * Micros::PER_SECOND), calendar);
            let today = latest_day.max(at.today);
            let held = |of: Option<i64>| open_holds(&balances, |r| of.is_none_or(|of| r.token_id.get() == of));
            let fits = |of: Option<i64>, limits: &Limits, units: i64| {
                Period::ALL.into_iter().zip(limits).all(|(period, limit)| {
                    let Some(limit) = limit else { return true };
                    let first = calendar.first_day(period, today);
                    let used: i64 = charges.iter().filter(|(token, day, _)| of.is_none_or(|of| of == *token) && *day >= first).map(|c| c.2).sum();
                    *limit > 0 && used + held(of) + units <= *limit
                })
            };
            let admits = |token: i64, units: i64| fits(Some(token), &limits[&token], units) && fits(None, &user_limits, units);
            let ids: Vec<_> = balances.reservations.keys().copied().collect();
            let pick = |nth: prop::sample::Index| ids.get(nth.index(ids.len().max(1))).copied();
            match action {
                Action::Charge { token, units } => {
                    let expected = admits(token, units);
                    let done = balances.charge(TokenId::new(token), quota(units), 0, &RequestContext::default(), &at);
                    prop_assert_eq!(done.is_ok(), expected, "{:?}", done);
                    if expected {
                        prop_assert_eq!(balances.charge_day(TokenId::new(token), &at), today);
                        charges.push((token, today, units));
                        latest_day = today;
                    }
                }
                Action::Reserve { token, units } => {
                    let expected = admits(token, units);
                    let done = balances.reserve(MAKER, TokenId::new(token), quota(units), &RequestContext::default(), (at.now.plus(60), OnExpiry::Release), &at);
                    prop_assert_eq!(done.is_ok(), expected, "{:?}", done);
                    if let Ok(made) = done {
                        balances.reservations.insert(ReservationId::new(i64::try_from(ids.len()).unwrap() + 1), made);
                    }
                }
                Action::Settle { nth, units } => {
                    if let Some(id) = pick(nth)
                        && let Ok((settlement, Effect::Applied)) = balances.settle(MAKER, id, quota(units), 0, &at)
                    {
                        prop_assert_eq!(settlement.shortfall, Quota::ZERO);
                        charges.push((balances.reservations[&id].token_id.get(), today, units));
                        latest_day = today;
                    }
                }
                Action::Release { nth } => drop(pick(nth).map(|id| balances.release(MAKER, id))),
                Action::Limit { token, period, units } => {
                    limits.get_mut(&token).unwrap()[period] = units;
                    let token = balances.tokens.get_mut(&TokenId::new(token)).unwrap();
                    token.account.period_limits = token.account.period_limits.edited(patch(period, units));
                }
                Action::LimitUser { period, units } => {
                    user_limits[period] = units;
                    let wallet = balances.wallets.get_mut(&UserId::new(1)).unwrap();
                    wallet.account.period_limits = wallet.account.period_limits.edited(patch(period, units));
                }
            }
            // L9: what the rows say is the sum of what happened.
            let sum = |of: Option<i64>, period, day| -> i64 {
                let first = calendar.first_day(period, day);
                charges.iter().filter(|c| of.is_none_or(|of| of == c.0) && c.1 >= first && c.1 <= day).map(|c| c.2).sum()
            };
            let rows = balances.tokens.values().map(|l| (Some(l.id.get()), l.account.period_counters, l.account.held));
            let wallet = balances.wallets[&UserId::new(1)];
            for (of, counters, held_quota) in rows.chain([(None, wallet.account.period_counters, wallet.account.held)]) {
                for period in Period::ALL {
                    prop_assert_eq!(counters.used(period).get(), sum(of, period, counters.day), "{:?} {}", of, period);
                }
                let open = open_holds(&balances, |r| of.is_none_or(|of| r.token_id.get() == of));
                prop_assert_eq!(held_quota.get(), open);
                prop_assert!(counters.day <= wallet.account.period_counters.day);
            }
            for locked in balances.tokens.values() {
                let open = balances.reservations.values().filter(|r| r.state == ReservationState::Open && r.token_id == locked.id).count();
                prop_assert_eq!(locked.rate_counters.open_reservations, i64::try_from(open).unwrap());
            }
        }
    }
}
