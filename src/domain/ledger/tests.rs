//! L1, L2, L3, L6 and L7 of the balances, as tables. `properties.rs` has random sequences, `limits.rs` the limits.

mod limits;
mod properties;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::Weekday;
use chrono_tz::Tz;
use proptest::prelude::*;

use super::*;
use crate::domain::account::Account;
use crate::domain::account::Budget;
use crate::domain::bounds;
use crate::domain::calendar::{Calendar, Moment};
use crate::domain::group::{Group, Groups};
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::ip_allowlist::{ClientAddress, IpAllowlist};
use crate::domain::model_limits::ModelLimits;
use crate::domain::money::Quota;
use crate::domain::rate_limits::{RateCounters, RateLimits};
use crate::domain::time::{Lifetime, Micros, UnixTime};
use crate::domain::token_policy::TokenPolicy;
use crate::domain::user::{Role, UserStatus};

const NOW: UnixTime = UnixTime::new(1_000);
const SOON: UnixTime = UnixTime::new(1_600);

pub fn moment(at: UnixTime) -> Moment {
    let calendar = Calendar { zone: Tz::UTC, week_starts: Weekday::Mon };
    Moment::new(Micros::new(at.get() * Micros::PER_SECOND), calendar)
}

fn now() -> Moment {
    moment(NOW)
}

fn soon() -> Moment {
    moment(SOON)
}

pub fn quota(units: i64) -> Quota {
    Quota::grant(units).unwrap()
}

fn wallet(units: i64) -> Wallet {
    Wallet {
        account: Account::new(Budget::Limited { remain: quota(units) }),
        request_count: 0,
        status: UserStatus::Enabled,
    }
}

fn locked(id: i64, user: i64, budget: Budget) -> (TokenId, LockedToken) {
    let token = LockedToken {
        id: TokenId::new(id),
        user_id: UserId::new(user),
        version: Some(0),
        accessed_time: UnixTime::new(0),
        account: Account::new(budget),
        rate_limits: RateLimits::default(),
        rate_counters: RateCounters::default(),
    };
    (token.id, token)
}

/// Lets this policy decide about a token, as a batch does after an edit.
fn set_policy(balances: &mut Balances, id: TokenId, policy: TokenPolicy) {
    let current = balances.tokens[&id].with((id, &Arc::new(policy)), &Groups::default(), "default");
    balances.policies.insert(id, current.unwrap());
}

/// Tokens that may be charged without restriction.
fn with_policies(tokens: BTreeMap<TokenId, LockedToken>, wallets: BTreeMap<UserId, Wallet>) -> Balances {
    let ids: Vec<TokenId> = tokens.keys().copied().collect();
    let mut balances = Balances { wallets, tokens, ..Balances::default() };
    for id in ids {
        set_policy(&mut balances, id, TokenPolicy::default());
    }
    balances
}

fn balances(remain: i64, in_wallet: i64) -> Balances {
    let token = locked(1, 1, Budget::new(quota(remain), false));
    with_policies(BTreeMap::from([token]), BTreeMap::from([(UserId::new(1), wallet(in_wallet))]))
}

const TOKEN: TokenId = TokenId::new(1);
const RESERVATION: ReservationId = ReservationId::new(1);
const MAKER: GatewayId = GatewayId::new(1);
const OTHER: GatewayId = GatewayId::new(2);

fn left(balances: &Balances) -> (i64, i64, i64) {
    let token = &balances.tokens[&TOKEN];
    (token.account.remain().get(), token.account.used.get(), balances.wallets[&UserId::new(1)].account.remain().get())
}

fn held(balances: &mut Balances, units: i64) {
    let made = balances
        .reserve(MAKER, TOKEN, quota(units), &RequestContext::default(), (SOON, OnExpiry::Release), &now())
        .unwrap();
    balances.reservations.insert(RESERVATION, made);
}

#[test]
fn l6_a_charge_is_refused_for_the_first_reason_that_applies() {
    type Change = fn(&mut Balances);
    fn token_of(balances: &mut Balances) -> &mut LockedToken {
        balances.tokens.get_mut(&TOKEN).unwrap()
    }
    fn owner(balances: &mut Balances) -> &mut Wallet {
        balances.wallets.get_mut(&UserId::new(1)).unwrap()
    }
    fn set(balances: &mut Balances, change: impl FnOnce(&mut TokenPolicy)) {
        let mut policy = TokenPolicy::default();
        change(&mut policy);
        set_policy(balances, TOKEN, policy);
    }
    let table: [(Change, RefusalReason); 11] = [
        (|b| b.policies.clear(), RefusalReason::InvalidKey),
        (|b| b.wallets.clear(), RefusalReason::InvalidKey),
        (|b| set(b, |policy| policy.disabled_by = Some(Role::User)), RefusalReason::TokenDisabled),
        (|b| set(b, |policy| policy.lifetime = Lifetime::Until(NOW)), RefusalReason::TokenExpired),
        (|b| owner(b).status = UserStatus::Disabled, RefusalReason::UserDisabled),
        (|b| set(b, |policy| policy.group = Group::from_text("closed")), RefusalReason::GroupNotAllowed),
        (
            |b| {
                set(b, |policy| {
                    policy.model_limits_enabled = true;
                    policy.model_limits = ModelLimits::parse("another").unwrap();
                });
            },
            RefusalReason::ModelNotAllowed,
        ),
        (
            |b| set(b, |policy| policy.allow_ips = IpAllowlist::parse("10.0.0.0/8").unwrap()),
            RefusalReason::IpNotAllowed,
        ),
        (
            |b| {
                token_of(b).account.budget = Budget::new(Quota::ZERO, false);
                token_of(b).account.used = quota(1);
            },
            RefusalReason::TokenExhausted,
        ),
        (|b| token_of(b).account.budget = Budget::new(quota(4), false), RefusalReason::TokenQuotaInsufficient),
        (|b| owner(b).account.budget = Budget::Limited { remain: quota(4) }, RefusalReason::UserQuotaInsufficient),
    ];
    let context = RequestContext { model: Some("gpt".into()), ip: ClientAddress::Known([192, 0, 2, 1].into()) };
    for (change, reason) in table {
        let mut balances = balances(10, 10);
        change(&mut balances);
        let before = balances.clone();
        assert_eq!(balances.charge(TOKEN, quota(5), 0, &context, &now()), Err(reason.into()));
        assert_eq!((balances.tokens, balances.wallets), (before.tokens, before.wallets), "{reason:?} took something");
    }
    assert_eq!(balances(5, 5).charge(TOKEN, quota(5), 0, &context, &now()), Ok(()));
}

#[test]
fn l6_only_the_policy_of_the_locked_version_of_a_live_token_decides() {
    let (_, locked) = locked(1, 1, Budget::new(quota(5), false));
    let with = |version, of, cached| {
        let policy = Arc::new(TokenPolicy { version: cached, ..TokenPolicy::default() });
        LockedToken { version, ..locked }.with((TokenId::new(of), &policy), &Groups::default(), "default").is_some()
    };
    let cases = [with(Some(3), 1, 3), with(Some(4), 1, 3), with(Some(3), 1, 4), with(None, 1, 3), with(Some(3), 2, 3)];
    assert_eq!(cases, [true, false, false, false, false]);
}

#[test]
fn omitted_fields_are_not_checked() {
    let mut balances = balances(10, 10);
    let allow_ips = IpAllowlist::parse("10.0.0.0/8").unwrap();
    set_policy(&mut balances, TOKEN, TokenPolicy { model_limits_enabled: true, allow_ips, ..TokenPolicy::default() });
    assert_eq!(balances.charge(TOKEN, quota(1), 0, &RequestContext::default(), &now()), Ok(()));
}

#[test]
fn l3_settling_charges_the_actual_cost_as_far_as_the_balances_reach() {
    let table = [
        // held, cost: charged, shortfall, then what remains, used, in the wallet
        (6, 6, 6, 0, (4, 6, 14)),
        (6, 2, 2, 0, (8, 2, 18)),
        (6, 0, 0, 0, (10, 0, 20)),
        (6, 9, 9, 0, (1, 9, 11)),
        (6, 15, 10, 5, (0, 10, 10)),
    ];
    for (hold, cost, charged, shortfall, after) in table {
        let mut balances = balances(10, 20);
        held(&mut balances, hold);
        assert_eq!(left(&balances), (10 - hold, hold, 20 - hold));
        let expected = Settlement {
            requested: quota(cost),
            charged: quota(charged),
            shortfall: quota(shortfall),
            was_expired: false,
        };
        assert_eq!(balances.settle(MAKER, RESERVATION, quota(cost), 0, &now()), Ok((expected, Effect::Applied)));
        assert_eq!(left(&balances), after, "held {hold}, cost {cost}");
    }
}

#[test]
fn l7_a_reservation_ends_exactly_once() {
    let mut settled = balances(10, 10);
    held(&mut settled, 4);
    settled.settle(MAKER, RESERVATION, quota(3), 0, &now()).unwrap();
    let after = left(&settled);
    assert_eq!(
        settled.settle(MAKER, RESERVATION, quota(3), 0, &now()).map(|(_, effect)| effect),
        Ok(Effect::Unchanged)
    );
    assert_eq!(settled.settle(MAKER, RESERVATION, quota(2), 0, &now()), Err(RefusalReason::ReservationEnded.into()));
    assert_eq!(settled.release(MAKER, RESERVATION), Err(RefusalReason::ReservationEnded.into()));
    assert_eq!(settled.expire(RESERVATION, &soon()), Err(RefusalReason::ReservationEnded.into()));
    assert_eq!(left(&settled), after);

    let mut released = balances(10, 10);
    held(&mut released, 4);
    assert_eq!(released.release(MAKER, RESERVATION), Ok(Effect::Applied));
    assert_eq!(released.release(MAKER, RESERVATION), Ok(Effect::Unchanged));
    assert_eq!(released.settle(MAKER, RESERVATION, quota(4), 0, &now()), Err(RefusalReason::ReservationEnded.into()));
    assert_eq!(left(&released), (10, 0, 10));
    assert_eq!(released.release(MAKER, ReservationId::new(9)), Err(RefusalReason::ReservationNotFound.into()));
}

#[test]
fn l7_only_the_gateway_that_made_a_reservation_can_settle_or_release_it() {
    type End = fn(&mut Balances);
    let states: [End; 4] = [
        |_| (),
        |balances| assert!(balances.settle(MAKER, RESERVATION, quota(3), 0, &now()).is_ok()),
        |balances| assert!(balances.release(MAKER, RESERVATION).is_ok()),
        |balances| assert!(balances.expire(RESERVATION, &soon()).is_ok()),
    ];
    for end in states {
        let mut balances = balances(10, 10);
        held(&mut balances, 4);
        end(&mut balances);
        let before = balances.clone();
        let state = before.reservations[&RESERVATION].state;
        for cost in [0, 3, 4, 9] {
            assert_eq!(
                balances.settle(OTHER, RESERVATION, quota(cost), 0, &soon()),
                Err(RefusalReason::ReservationNotFound.into()),
                "{state:?}"
            );
        }
        assert_eq!(balances.release(OTHER, RESERVATION), Err(RefusalReason::ReservationNotFound.into()), "{state:?}");
        assert_eq!(balances.reservations, before.reservations);
        assert_eq!((balances.tokens, balances.wallets), (before.tokens, before.wallets), "{state:?}");
    }
}

#[test]
fn l7_a_reservation_expires_at_its_time_and_can_still_be_settled_from_what_is_left() {
    let mut balances = balances(10, 10);
    held(&mut balances, 4);
    assert_eq!(balances.expire(RESERVATION, &now()), Ok(Effect::Unchanged));
    assert_eq!(left(&balances), (6, 4, 6));
    assert_eq!(balances.expire(RESERVATION, &soon()), Ok(Effect::Applied));
    assert_eq!(left(&balances), (10, 0, 10));
    balances.charge(TOKEN, quota(8), 0, &RequestContext::default(), &now()).unwrap();
    let late = Settlement { requested: quota(4), charged: quota(2), shortfall: quota(2), was_expired: true };
    assert_eq!(balances.settle(MAKER, RESERVATION, quota(4), 0, &soon()), Ok((late, Effect::Applied)));
    assert_eq!(left(&balances), (0, 10, 0));
}

/// To hold this quota until this time.
fn to(units: Option<i64>, until: Option<UnixTime>) -> Extension {
    Extension { quota: units.map(quota), until }
}

fn extend(balances: &mut Balances, to: Extension) -> Result<(), Refusal> {
    balances.extend(MAKER, RESERVATION, to, &RequestContext::default(), &now())
}

#[test]
fn a_reservation_is_extended_to_what_it_should_be_and_never_shrinks() {
    let later = SOON.plus(100);
    let table = [
        // to: held, end, left
        (to(Some(6), None), 6, SOON, (4, 6, 14)),
        (to(Some(4), None), 4, SOON, (6, 4, 16)),
        (to(Some(0), None), 4, SOON, (6, 4, 16)),
        (to(None, Some(later)), 4, later, (6, 4, 16)),
        (to(None, Some(NOW)), 4, SOON, (6, 4, 16)),
        (to(Some(10), Some(later)), 10, later, (0, 10, 10)),
        (to(Some(1), Some(later)), 4, later, (6, 4, 16)),
    ];
    for (extension, holds, ends, after) in table {
        let mut balances = balances(10, 20);
        held(&mut balances, 4);
        // Again, because a retry changes nothing.
        for _ in 0..2 {
            assert_eq!(extend(&mut balances, extension), Ok(()), "{extension:?}");
            let made = balances.reservations[&RESERVATION];
            assert_eq!((made.held, made.expires_at, made.state), (quota(holds), ends, ReservationState::Open));
            assert_eq!(left(&balances), after, "{extension:?}");
            assert_eq!(balances.tokens[&TOKEN].account.held, quota(holds));
            assert_eq!(balances.tokens[&TOKEN].rate_counters.open_reservations, 1);
        }
        let (settlement, _) = balances.settle(MAKER, RESERVATION, quota(3), 0, &now()).unwrap();
        assert_eq!((settlement.charged, left(&balances)), (quota(3), (7, 3, 17)));
    }
}

#[test]
fn an_extension_is_admitted_like_a_reservation_of_what_is_added() {
    type Change = fn(&mut Balances);
    fn set(balances: &mut Balances, change: impl FnOnce(&mut TokenPolicy)) {
        let mut policy = TokenPolicy::default();
        change(&mut policy);
        set_policy(balances, TOKEN, policy);
    }
    fn token(balances: &mut Balances) -> &mut LockedToken {
        balances.tokens.get_mut(&TOKEN).unwrap()
    }
    let time = to(None, Some(SOON.plus(1)));
    let more = to(Some(9), None);
    // Each with what refuses more quota, and more time.
    let table: [(Change, Option<RefusalReason>, Option<RefusalReason>); 9] = [
        (|_| (), None, None),
        (|b| b.policies.clear(), Some(RefusalReason::InvalidKey), Some(RefusalReason::InvalidKey)),
        (
            |b| set(b, |policy| policy.disabled_by = Some(Role::User)),
            Some(RefusalReason::TokenDisabled),
            Some(RefusalReason::TokenDisabled),
        ),
        (
            |b| set(b, |policy| policy.lifetime = Lifetime::Until(NOW)),
            Some(RefusalReason::TokenExpired),
            Some(RefusalReason::TokenExpired),
        ),
        (
            |b| set(b, |policy| policy.model_limits_enabled = true),
            Some(RefusalReason::ModelNotAllowed),
            Some(RefusalReason::ModelNotAllowed),
        ),
        (|b| token(b).account.budget = Budget::new(Quota::ZERO, false), Some(RefusalReason::TokenExhausted), None),
        (|b| token(b).account.budget = Budget::new(quota(4), false), Some(RefusalReason::TokenQuotaInsufficient), None),
        (
            |b| b.wallets.get_mut(&UserId::new(1)).unwrap().account.budget = Budget::Limited { remain: quota(4) },
            Some(RefusalReason::UserQuotaInsufficient),
            None,
        ),
        (|b| token(b).account.period_limits.day = Some(quota(8)), Some(RefusalReason::TokenPeriodExceeded), None),
    ];
    let context = RequestContext { model: Some("gpt".into()), ip: ClientAddress::NotSent };
    for (change, of_quota, of_time) in table {
        for (extension, refused) in [(more, of_quota), (time, of_time)] {
            let mut balances = balances(20, 20);
            held(&mut balances, 4);
            change(&mut balances);
            let before = balances.clone();
            let extended = balances.extend(MAKER, RESERVATION, extension, &context, &now());
            assert_eq!(extended.map_err(|refusal| refusal.reason), refused.map_or(Ok(()), Err), "{extension:?}");
            if refused.is_some() {
                assert_eq!((balances.tokens, balances.wallets), (before.tokens, before.wallets));
                assert_eq!(balances.reservations, before.reservations);
            }
        }
    }
}

#[test]
fn an_extension_counts_no_request_and_needs_no_further_place_among_the_open_reservations() {
    let mut balances = balances(20, 20);
    let limits = RateLimits { requests_per_minute: Some(1), concurrency: Some(1), ..RateLimits::default() };
    balances.tokens.get_mut(&TOKEN).unwrap().rate_limits = limits;
    held(&mut balances, 4);
    let counters = balances.tokens[&TOKEN].rate_counters;
    for units in 5..10 {
        assert_eq!(extend(&mut balances, to(Some(units), Some(SOON.plus(units)))), Ok(()));
    }
    assert_eq!(balances.tokens[&TOKEN].rate_counters, counters);
}

#[test]
fn l7_only_an_open_reservation_of_the_gateway_is_extended_before_its_end() {
    type End = fn(&mut Balances);
    let ended = Err(RefusalReason::ReservationEnded.into());
    let unknown = Err(RefusalReason::ReservationNotFound.into());
    let ends: [End; 3] = [
        |b| assert!(b.settle(MAKER, RESERVATION, quota(3), 0, &now()).is_ok()),
        |b| assert!(b.release(MAKER, RESERVATION).is_ok()),
        |b| assert!(b.expire(RESERVATION, &soon()).is_ok()),
    ];
    for end in ends {
        let mut balances = balances(10, 10);
        held(&mut balances, 4);
        end(&mut balances);
        let before = left(&balances);
        assert_eq!(extend(&mut balances, to(Some(5), None)), ended);
        assert_eq!(extend(&mut balances, to(Some(4), None)), ended);
        assert_eq!(left(&balances), before);
    }
    let mut balances = balances(10, 10);
    held(&mut balances, 4);
    let more = to(Some(5), Some(SOON.plus(9)));
    assert_eq!(balances.extend(OTHER, RESERVATION, more, &RequestContext::default(), &now()), unknown);
    assert_eq!(
        balances.extend(MAKER, RESERVATION, more, &RequestContext::default(), &soon()),
        ended,
        "not expired yet"
    );
    assert_eq!(balances.extend(MAKER, ReservationId::new(9), more, &RequestContext::default(), &now()), unknown);
    assert_eq!(left(&balances), (6, 4, 6));
}

#[test]
fn l2_a_hold_that_was_extended_returns_as_a_whole_to_where_its_last_part_was_taken_from() {
    // Whether the token is unlimited when the hold is made, extended and released.
    for [made, extended, released] in (0..8).map(|n| [n & 1 > 0, n & 2 > 0, n & 4 > 0]) {
        let set = |balances: &mut Balances, unlimited: bool| {
            let token = balances.tokens.get_mut(&TOKEN).unwrap();
            token.account.budget = Budget::new(token.account.remain(), unlimited);
        };
        let mut balances = balances(10, 20);
        set(&mut balances, made);
        held(&mut balances, 4);
        set(&mut balances, extended);
        let sum = |balances: &Balances| left(balances).0 + left(balances).1;
        let before = sum(&balances);
        assert_eq!(extend(&mut balances, to(Some(7), None)), Ok(()));
        if !extended {
            assert_eq!(sum(&balances), before, "{made} {extended} {released}");
        }
        set(&mut balances, released);
        let before = sum(&balances);
        balances.release(MAKER, RESERVATION).unwrap();
        let (remain, used, in_wallet) = left(&balances);
        assert_eq!((used, in_wallet), (0, 20));
        // The edit that limited the token found a hold of 4 in used, beside the 10 that remained.
        let had = if made && !extended { 14 } else { 10 };
        let expected = if released { had } else { before };
        assert_eq!(remain, expected, "what was taken returns, and nothing else: {made} {extended} {released}");
    }
}

#[test]
fn l7_a_reservation_that_is_charged_on_expiry_is_charged_once_and_ends_in_no_other_way() {
    let ended = RefusalReason::ReservationEnded;
    let mut balances = balances(10, 20);
    let term = (SOON, OnExpiry::Charge);
    let made = balances.reserve(MAKER, TOKEN, quota(4), &RequestContext::default(), term, &now()).unwrap();
    balances.reservations.insert(RESERVATION, made);
    assert_eq!(balances.expire(RESERVATION, &now()), Ok(Effect::Unchanged), "not before its time");
    assert_eq!(balances.expire(RESERVATION, &soon()), Ok(Effect::Applied));
    let settlement = Settlement { requested: quota(4), charged: quota(4), shortfall: Quota::ZERO, was_expired: true };
    assert_eq!(balances.reservations[&RESERVATION].state, ReservationState::ChargedOnExpiry(settlement));
    let (token, wallet) = (balances.tokens[&TOKEN], balances.wallets[&UserId::new(1)]);
    assert_eq!((left(&balances), wallet.request_count, token.accessed_time), ((6, 4, 16), 1, SOON));
    assert_eq!((token.account.held, token.rate_counters.open_reservations), (Quota::ZERO, 0));
    assert_eq!(token.account.period_counters.day_used, quota(4));
    let before = balances.clone();
    for cost in [0, 3, 4, 9] {
        assert_eq!(balances.settle(MAKER, RESERVATION, quota(cost), 0, &soon()), Err(ended.into()));
    }
    assert_eq!(balances.release(MAKER, RESERVATION), Err(ended.into()));
    assert_eq!(balances.expire(RESERVATION, &soon()), Err(ended.into()));
    assert_eq!(extend(&mut balances, to(Some(9), Some(SOON.plus(9)))), Err(ended.into()));
    assert_eq!((&balances.tokens, &balances.wallets), (&before.tokens, &before.wallets));
    assert_eq!(balances.reservations, before.reservations);
}

#[test]
fn l7_a_reservation_that_would_be_charged_on_expiry_ends_like_any_other_before() {
    type End = fn(&mut Balances) -> Effect;
    let ends: [(End, (i64, i64, i64)); 2] = [
        (|b| b.settle(MAKER, RESERVATION, quota(1), 0, &soon()).unwrap().1, (9, 1, 19)),
        (|b| b.release(MAKER, RESERVATION).unwrap(), (10, 0, 20)),
    ];
    for (end, after) in ends {
        let mut balances = balances(10, 20);
        let term = (SOON, OnExpiry::Charge);
        let made = balances.reserve(MAKER, TOKEN, quota(4), &RequestContext::default(), term, &now()).unwrap();
        balances.reservations.insert(RESERVATION, made);
        assert_eq!((end(&mut balances), left(&balances)), (Effect::Applied, after));
        assert_ne!(balances.expire(RESERVATION, &soon()), Ok(Effect::Applied));
        assert_eq!(left(&balances), after);
    }
}

#[test]
fn what_becomes_of_an_expired_hold_reads_back_as_it_was_written() {
    let known = ["release", "charge", "", "Charge", "keep"].map(OnExpiry::parse);
    assert_eq!(known, [Some(OnExpiry::Release), Some(OnExpiry::Charge), None, None, None]);
    assert_eq!([OnExpiry::default(), OnExpiry::Charge].map(OnExpiry::as_str), ["release", "charge"]);
}

#[test]
fn l2_held_quota_returns_to_where_it_was_taken_from_even_if_the_token_became_unlimited() {
    let mut balances = balances(10, 10);
    held(&mut balances, 4);
    balances.tokens.get_mut(&TOKEN).unwrap().account.budget = Budget::new(quota(6), true);
    balances.release(MAKER, RESERVATION).unwrap();
    assert_eq!(left(&balances), (10, 0, 10));
    assert!(balances.tokens[&TOKEN].account.budget.is_unlimited());
}

#[test]
fn l2_held_quota_of_an_unlimited_token_returns_to_remain_if_the_token_became_limited() {
    type End = fn(&mut Balances) -> Effect;
    let ends: [(End, (i64, i64, i64)); 3] = [
        (|balances| balances.release(MAKER, RESERVATION).unwrap(), (9, 0, 10)),
        (|balances| balances.expire(RESERVATION, &soon()).unwrap(), (9, 0, 10)),
        (|balances| balances.settle(MAKER, RESERVATION, quota(3), 0, &now()).unwrap().1, (6, 3, 7)),
    ];
    for (end, expected) in ends {
        let mut balances = balances(10, 10);
        balances.tokens.get_mut(&TOKEN).unwrap().account.budget = Budget::new(quota(10), true);
        held(&mut balances, 4);
        assert_eq!(left(&balances), (10, 4, 6));
        // The edit finds 4 in used.
        balances.tokens.get_mut(&TOKEN).unwrap().account.budget = Budget::new(quota(5), false);
        assert_eq!((end(&mut balances), left(&balances)), (Effect::Applied, expected));
    }
}

#[test]
fn the_handle_of_a_reservation_reads_back_as_it_was_written() {
    let handle = ReservationHandle { owner: UserId::new(7), id: ReservationId::new(123) };
    assert_eq!(handle.to_string(), "r7.123");
    assert_eq!("r7.123".parse(), Ok(handle));
    for text in ["", "r", "r7", "7.123", "r7.", "r.123", "r7.1.2", "r7.x", "r99999999999999999999.1"] {
        assert_eq!(text.parse::<ReservationHandle>(), Err(ReservationHandleInvalid), "{text}");
    }
}

#[test]
fn a_charge_and_a_settlement_count_one_request_and_access_never_moves_back() {
    let counted =
        |balances: &Balances| (balances.wallets[&UserId::new(1)].request_count, balances.tokens[&TOKEN].accessed_time);
    let mut balances = balances(10, 10);
    balances.charge(TOKEN, quota(1), 0, &RequestContext::default(), &soon()).unwrap();
    assert_eq!(counted(&balances), (1, SOON));
    balances.charge(TOKEN, quota(1), 0, &RequestContext::default(), &now()).unwrap();
    assert_eq!(counted(&balances), (2, SOON));
    balances.charge(TOKEN, quota(99), 0, &RequestContext::default(), &now()).unwrap_err();
    assert_eq!(counted(&balances), (2, SOON));
    held(&mut balances, 4);
    assert_eq!(counted(&balances), (2, SOON));
    balances.settle(MAKER, RESERVATION, quota(3), 0, &moment(SOON.plus(1))).unwrap();
    assert_eq!(counted(&balances), (3, SOON.plus(1)));
    balances.settle(MAKER, RESERVATION, quota(3), 0, &moment(SOON.plus(9))).unwrap();
    assert_eq!(counted(&balances), (3, SOON.plus(1)));
}

#[test]
fn what_a_token_has_left_is_its_remain_and_nothing_if_it_is_not_locked() {
    let balances = balances(7, 10);
    assert_eq!(balances.remain(TOKEN), quota(7));
    assert_eq!(balances.remain(TokenId::new(9)), Quota::ZERO);
}

#[test]
fn verify_compares_an_amount_with_the_token_first_and_with_the_wallet_then() {
    use RefusalReason::{TokenQuotaInsufficient, UserQuotaInsufficient};
    let table = [
        // remain, unlimited, wallet: result for 5, usable
        (5, false, 5, Ok(()), 5),
        (4, false, 5, Err(TokenQuotaInsufficient), 4),
        (5, false, 4, Err(UserQuotaInsufficient), 4),
        (4, false, 4, Err(TokenQuotaInsufficient), 4),
        (6, false, 9, Ok(()), 6),
        (0, true, 5, Ok(()), 5),
        (0, true, 6, Ok(()), 6),
        (9, true, 4, Err(UserQuotaInsufficient), 4),
    ];
    for (remain, unlimited, in_wallet, expected, usable) in table {
        let token = Account::new(Budget::new(quota(remain), unlimited));
        let accounts = Accounts::new(token, wallet(in_wallet).account);
        let case = format!("{remain} {unlimited} {in_wallet}");
        assert_eq!(accounts.afford(quota(5)), expected.map_err(Refusal::from), "{case}");
        assert_eq!(accounts.usable(&now()), quota(usable), "{case}");
    }
}

#[test]
fn states_of_reservations_have_the_names_of_the_database() {
    let settlement = Settlement { requested: quota(5), charged: quota(3), shortfall: quota(2), was_expired: false };
    let table = [
        (ReservationState::Open, "open", None),
        (ReservationState::Settled(settlement), "settled", Some(settlement)),
        (ReservationState::Released, "released", None),
        (ReservationState::Expired, "expired", None),
        (ReservationState::ChargedOnExpiry(settlement), "settled", Some(settlement)),
    ];
    for (state, name, settled_as) in table {
        assert_eq!((state.as_str(), state.settlement()), (name, settled_as));
    }
}
