//! L1, L2, L3 and L7 over random sequences of operations.

use super::*;

#[derive(Debug, Clone)]
enum ModelStep {
    Charge { token: i64, units: i64 },
    Reserve { token: i64, units: i64, on_expiry: OnExpiry },
    Extend { by: GatewayId, nth: prop::sample::Index, units: i64, until: i64 },
    Settle { by: GatewayId, nth: prop::sample::Index, units: i64 },
    Release { by: GatewayId, nth: prop::sample::Index },
    Expire { nth: prop::sample::Index, at: i64 },
    Switch { token: i64, on: bool },
    Delete { token: i64 },
    Edit { token: i64, remain: i64, unlimited: bool },
}

fn steps() -> impl Strategy<Value = Vec<ModelStep>> {
    let units = || prop_oneof![0_i64..60, Just(0), Just(bounds::MAX_QUOTA)];
    let token = || 1_i64..=3;
    let on_expiry = || prop_oneof![Just(OnExpiry::Release), Just(OnExpiry::Charge)];
    let nth = any::<prop::sample::Index>;
    let by = || prop_oneof![4 => Just(MAKER), 1 => Just(OTHER)];
    prop::collection::vec(
        prop_oneof![
            6 => (token(), units()).prop_map(|(token, units)| ModelStep::Charge { token, units }),
            6 => (token(), units(), on_expiry()).prop_map(|(token, units, on_expiry)| ModelStep::Reserve { token, units, on_expiry }),
            4 => (by(), nth(), units(), 900_i64..2_000).prop_map(|(by, nth, units, until)| ModelStep::Extend { by, nth, units, until }),
            4 => (by(), nth(), units()).prop_map(|(by, nth, units)| ModelStep::Settle { by, nth, units }),
            2 => (by(), nth()).prop_map(|(by, nth)| ModelStep::Release { by, nth }),
            2 => (nth(), 900_i64..2_000).prop_map(|(nth, at)| ModelStep::Expire { nth, at }),
            1 => (token(), any::<bool>()).prop_map(|(token, on)| ModelStep::Switch { token, on }),
            1 => token().prop_map(|token| ModelStep::Delete { token }),
            1 => (token(), 0_i64..120, any::<bool>()).prop_map(|(token, remain, unlimited)| ModelStep::Edit { token, remain, unlimited }),
        ],
        0..80,
    )
}

proptest! {
    /// Over two wallets, two limited tokens and an unlimited one.
    #[test]
    fn l1_l2_l3_l7_hold_after_every_step_of_any_sequence_of_operations(steps in steps()) {
        let tokens = BTreeMap::from([
            locked(1, 1, Budget::new(quota(100), false)),
            locked(2, 1, Budget::new(quota(7), true)),
            locked(3, 2, Budget::new(quota(90), false)),
        ]);
        let mut balances =
            with_policies(tokens, BTreeMap::from([(UserId::new(1), wallet(150)), (UserId::new(2), wallet(80))]));
        let mut granted: BTreeMap<_, _> = balances.tokens.iter().map(|(id, a)| (*id, a.account.remain())).collect();
        let (mut charges, mut ended): (BTreeMap<TokenId, i64>, BTreeMap<ReservationId, ReservationState>) = Default::default();
        let mut edited = BTreeSet::new();
        for step in steps {
            let ids: Vec<_> = balances.reservations.keys().copied().collect();
            let pick = |nth: prop::sample::Index| if ids.is_empty() { RESERVATION } else { ids[nth.index(ids.len())] };
            match step {
                ModelStep::Charge { token, units } => {
                    let id = TokenId::new(token);
                    if balances.charge(id, quota(units), 0, &RequestContext::default(), &now()).is_ok() {
                        *charges.entry(id).or_default() += units;
                    }
                }
                ModelStep::Reserve { token, units, on_expiry } => {
                    if let Ok(made) = balances.reserve(MAKER, TokenId::new(token), quota(units), &RequestContext::default(), (SOON, on_expiry), &now()) {
                        let next = i64::try_from(balances.reservations.len()).unwrap() + 1;
                        balances.reservations.insert(ReservationId::new(next), made);
                    }
                }
                ModelStep::Extend { by, nth, units, until } => {
                    let before = balances.reservations.get(&pick(nth)).copied();
                    let extension = to(Some(units), Some(UnixTime::new(until)));
                    let extended = balances.extend(by, pick(nth), extension, &RequestContext::default(), &now());
                    prop_assert!(by == MAKER || extended == Err(RefusalReason::ReservationNotFound.into()), "L7");
                    if let (Ok(()), Some(before)) = (extended, before) {
                        let after = balances.reservations[&pick(nth)];
                        prop_assert_eq!((before.state, after.state), (ReservationState::Open, ReservationState::Open));
                        prop_assert_eq!(after.held, before.held.max(quota(units)));
                        prop_assert_eq!(after.expires_at, before.expires_at.max(UnixTime::new(until)));
                    } else {
                        prop_assert_eq!(balances.reservations.get(&pick(nth)).copied(), before);
                    }
                }
                ModelStep::Settle { by, nth, units } => {
                    if let Ok((settlement, Effect::Applied)) = balances.settle(by, pick(nth), quota(units), 0, &now()) {
                        prop_assert_eq!(by, MAKER, "L7");
                        let token = balances.reservations[&pick(nth)].token_id;
                        *charges.entry(token).or_default() += settlement.charged.get();
                        let sum = settlement.charged.checked_add(settlement.shortfall);
                        prop_assert_eq!(sum, Some(settlement.requested));
                    }
                }
                ModelStep::Release { by, nth } => {
                    let released = balances.release(by, pick(nth));
                    prop_assert!(by == MAKER || released == Err(RefusalReason::ReservationNotFound.into()), "L7");
                }
                ModelStep::Expire { nth, at } => {
                    if let Ok(Effect::Applied) = balances.expire(pick(nth), &moment(UnixTime::new(at))) {
                        let Reservation { token_id, held, on_expiry, state, .. } = balances.reservations[&pick(nth)];
                        prop_assert_eq!(on_expiry == OnExpiry::Release, state == ReservationState::Expired, "L7");
                        if on_expiry == OnExpiry::Charge {
                            *charges.entry(token_id).or_default() += held.get();
                        }
                    }
                }
                ModelStep::Switch { token, on } => {
                    let disabled_by = (!on).then_some(Role::User);
                    set_policy(&mut balances, TokenId::new(token), TokenPolicy { disabled_by, ..TokenPolicy::default() });
                }
                ModelStep::Edit { token, remain, unlimited } => {
                    let id = TokenId::new(token);
                    let token = balances.tokens.get_mut(&id).unwrap();
                    token.account.budget = Budget::new(quota(remain), unlimited);
                    granted.insert(id, quota(remain).checked_add(token.account.used).unwrap());
                    edited.insert(id);
                }
                ModelStep::Delete { token } => drop(balances.policies.remove(&TokenId::new(token))),
            }
            for (id, token) in &balances.tokens {
                let open: i64 = open_holds(&balances, |r| r.token_id == *id);
                let sum = charges.get(id).copied().unwrap_or_default() + open;
                prop_assert_eq!(token.account.used.get(), sum, "L3 of token {}", id);
                prop_assert!(token.account.remain().get() >= 0 && token.account.used.get() >= 0, "L1");
                match token.account.budget {
                    Budget::Limited { remain } => {
                        prop_assert_eq!(remain.checked_add(token.account.used), Some(granted[id]), "L2");
                    }
                    // A hold of the time when it was limited returns to it.
                    Budget::Unlimited { shelved } => prop_assert!(edited.contains(id) || shelved == granted[id]),
                }
            }
            for (id, wallet) in &balances.wallets {
                let of_user = |token: &TokenId| balances.tokens[token].user_id == *id;
                let charged: i64 = charges.iter().filter(|(token, _)| of_user(token)).map(|(_, sum)| sum).sum();
                let sum = charged + open_holds(&balances, |r| r.user_id == *id);
                prop_assert_eq!(wallet.account.used.get(), sum, "L3 of wallet {}", id);
                prop_assert!(wallet.account.remain().get() >= 0, "L1");
                prop_assert_eq!(wallet.account.remain().get() + sum, if id.get() == 1 { 150 } else { 80 });
            }
            for (id, reservation) in &balances.reservations {
                // An expired reservation can still be settled; every other end is final.
                let before = ended.insert(*id, reservation.state);
                let is_final = before.is_some_and(|state| !matches!(state, ReservationState::Open | ReservationState::Expired));
                prop_assert!(!is_final || before == Some(reservation.state), "L7");
            }
        }
    }
}

pub(super) fn open_holds(balances: &Balances, of: impl Fn(&Reservation) -> bool) -> i64 {
    let open = balances.reservations.values().filter(|r| r.state == ReservationState::Open && of(r));
    open.map(|r| r.held.get()).sum()
}
