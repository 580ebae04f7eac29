//! The pure heart of metering: which operations fit which balances.
//!
//! [`Books`] are the rows that a batch has locked. Operations are applied to them one after the
//! other, in the order of arrival; what they leave behind is what gets written. Nothing here reads
//! a clock or a database, so the invariants are tested as properties:
//!
//! - **L1** neither `remain` nor `used` is ever negative, of a token or of a wallet.
//! - **L2** of a limited token, `remain + used` is changed by no use.
//! - **L3** `used` of a token and of a wallet = its charges + its open reservations.
//! - **L6** nothing is taken from a token that is disabled, deleted or expired, or whose owner is
//!   disabled.
//! - **L7** a hold ends exactly once: settled, released, or expired. An expired reservation has given its hold back;
//!   settling it afterwards is a charge without a hold, at most once. Only the gateway that made it settles or releases
//!   it.

use std::collections::BTreeMap;

use super::id::{GatewayId, ReservationId, TokenId, UserId};
use super::ip_allowlist::ClientAddress;
use super::money::Quota;
use super::status::Status;
use super::time::UnixTime;
use super::token::{Budget, Token};
use super::user::UserStatus;

/// What a batch has locked.
#[derive(Debug, Clone, Default)]
pub struct Books {
    /// Wallets of live accounts.
    pub wallets: BTreeMap<UserId, Wallet>,
    /// Live tokens, and deleted ones that have reservations.
    pub tokens: BTreeMap<TokenId, Account>,
    /// Reservations that operations name.
    pub reservations: BTreeMap<ReservationId, Reservation>,
}

/// The money of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wallet {
    /// What is left.
    pub quota: Quota,
    /// What was spent or is held.
    pub used_quota: Quota,
    /// Charges so far.
    pub request_count: i64,
    /// Whether its owner may do anything.
    pub status: UserStatus,
}

/// A token and whether it was deleted: its reservations end all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The token.
    pub token: Token,
    /// Whether it is gone for every new use.
    pub is_deleted: bool,
    /// Whether its owner may still use its group.
    pub group_is_open: bool,
}

/// Quota that was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// From this token.
    pub token_id: TokenId,
    /// And from this wallet.
    pub user_id: UserId,
    /// Made by this gateway, which alone may settle or release it.
    pub gateway_id: Option<GatewayId>,
    /// So much.
    pub held: Quota,
    /// Whether the token was limited, so that its `remain` gave the quota and gets the rest back.
    pub from_remain: bool,
    /// When it ends by itself.
    pub expires_at: UnixTime,
    /// How it stands.
    pub state: ReservationState,
}

/// How a reservation stands. Once it is not open, it never is again (L7). Of the others, only `Expired` can change: it
/// may still be settled, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationState {
    /// Holds its quota.
    Open,
    /// Became a charge.
    Settled(Settlement),
    /// Gave everything back.
    Released,
    /// Gave everything back because its time was over.
    Expired,
}

impl ReservationState {
    /// The word of the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Settled(_) => "settled",
            Self::Released => "released",
            Self::Expired => "expired",
        }
    }
}

/// What settling did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// The actual cost that was asked for.
    pub requested: Quota,
    /// What was taken.
    pub charged: Quota,
    /// What neither the hold nor the balances could cover.
    pub shortfall: Quota,
    /// Whether the reservation had expired before, and so held nothing any more.
    pub was_expired: bool,
}

/// What a request wants to use a token for. Omitted fields are not checked: the gateway is trusted to send what it
/// knows.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// The model.
    pub model: Option<String>,
    /// The end client's address.
    pub ip: ClientAddress,
}

/// Tokens in and out of a model, as the gateway counted them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Input tokens.
    pub prompt_tokens: i64,
    /// Output tokens.
    pub completion_tokens: i64,
}

/// The id of a reservation as gateways see it, `r7.123`: its owner, who decides the lane, and its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservationHandle {
    /// The owner of the token. Checked against the reservation.
    pub owner: UserId,
    /// The row.
    pub id: ReservationId,
}

/// The text is not the id of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservationHandleInvalid;

impl std::fmt::Display for ReservationHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "r{}.{}", self.owner, self.id)
    }
}

impl std::str::FromStr for ReservationHandle {
    type Err = ReservationHandleInvalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.strip_prefix('r').and_then(|rest| rest.split_once('.'));
        let (owner, id) = parts.ok_or(ReservationHandleInvalid)?;
        let number = |digits: &str| digits.parse::<i64>().map_err(|_| ReservationHandleInvalid);
        Ok(Self { owner: UserId::new(number(owner)?), id: ReservationId::new(number(id)?) })
    }
}

/// Why an operation was refused, in the order in which the reasons are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Unknown or deleted.
    #[error("this API key is not valid")]
    InvalidKey,
    /// Switched off.
    #[error("this token is disabled")]
    TokenDisabled,
    /// Its time is over.
    #[error("this token has expired")]
    TokenExpired,
    /// Its owner is switched off.
    #[error("the account of this token is disabled")]
    UserDisabled,
    /// Its owner was moved to another group, or the group is gone.
    #[error("the group of this token is not open to its owner any more")]
    GroupNotAllowed,
    /// Not on its list.
    #[error("this token may not use this model")]
    ModelNotAllowed,
    /// Not on its list.
    #[error("this token may not be used from this address")]
    IpNotAllowed,
    /// Nothing left.
    #[error("this token has used up its quota")]
    TokenExhausted,
    /// Too little left.
    #[error("this token has less quota left than that")]
    TokenQuotaInsufficient,
    /// Too little in the wallet.
    #[error("the account of this token has less quota left than that")]
    UserQuotaInsufficient,
    /// Never made, made by another gateway, or forgotten long after it ended.
    #[error("there is no such reservation")]
    NoReservation,
    /// It ended before, in another way (L7).
    #[error("this reservation has ended already")]
    ReservationEnded,
}

impl Token {
    /// Whether a request may use this token now: everything but the balances. `group_is_open`: whether its owner may use
    /// its group.
    ///
    /// # Errors
    /// The first of the reasons that applies.
    pub fn admits(
        &self,
        owner: UserStatus,
        group_is_open: bool,
        context: &RequestContext,
        now: UnixTime,
    ) -> Result<(), Refusal> {
        let status = self.status(now);
        match (status, owner) {
            (Status::Disabled, _) => return Err(Refusal::TokenDisabled),
            (Status::Expired, _) => return Err(Refusal::TokenExpired),
            (Status::Enabled | Status::QuotaExhausted, UserStatus::Disabled) => return Err(Refusal::UserDisabled),
            (Status::Enabled | Status::QuotaExhausted, UserStatus::Enabled) => {}
        }
        if !group_is_open {
            return Err(Refusal::GroupNotAllowed);
        }
        let model_fits = |model: &String| self.model_limits.names().any(|name| name == model);
        if self.model_limits_enabled && !context.model.as_ref().is_none_or(model_fits) {
            return Err(Refusal::ModelNotAllowed);
        }
        if !context.ip.passes(&self.allow_ips) {
            return Err(Refusal::IpNotAllowed);
        }
        match status {
            Status::QuotaExhausted => Err(Refusal::TokenExhausted),
            Status::Enabled | Status::Disabled | Status::Expired => Ok(()),
        }
    }

    /// What this token and its owner's wallet can pay together.
    #[must_use]
    pub fn usable(&self, wallet: Quota) -> Quota {
        match self.budget {
            Budget::Limited { remain } => remain.min(wallet),
            Budget::Unlimited { .. } => wallet,
        }
    }
}

impl Books {
    /// Takes `quota` from a token and its owner's wallet, both or neither.
    ///
    /// # Errors
    /// See [`Refusal`]; then nothing was taken.
    pub fn charge(
        &mut self,
        id: TokenId,
        quota: Quota,
        context: &RequestContext,
        now: UnixTime,
    ) -> Result<(), Refusal> {
        self.take(id, quota, context, now)?;
        self.count(id, now);
        Ok(())
    }

    /// Sets `quota` aside until `expires_at` for the gateway `by`, like a charge that may be taken back.
    ///
    /// # Errors
    /// See [`Refusal`]; then nothing was set aside.
    pub fn reserve(
        &mut self,
        by: Option<GatewayId>,
        id: TokenId,
        quota: Quota,
        context: &RequestContext,
        expires_at: UnixTime,
        now: UnixTime,
    ) -> Result<Reservation, Refusal> {
        let from_remain = self.take(id, quota, context, now)?;
        let user_id = self.tokens.get(&id).ok_or(Refusal::InvalidKey)?.token.user_id;
        let state = ReservationState::Open;
        Ok(Reservation { token_id: id, user_id, gateway_id: by, held: quota, from_remain, expires_at, state })
    }

    /// Ends a reservation as a charge of `actual`. Less than was held is given back; more is taken
    /// as far as both balances reach. One that has expired is charged in the same way, holding
    /// nothing. Settling again with the same amount tells the same again.
    ///
    /// # Errors
    /// Unknown to the gateway `by`, or ended in another way.
    pub fn settle(
        &mut self,
        by: Option<GatewayId>,
        id: ReservationId,
        actual: Quota,
        now: UnixTime,
    ) -> Result<(Settlement, Told), Refusal> {
        let reservation = *self.made_by(by, id)?;
        let held = match reservation.state {
            ReservationState::Open => reservation.held,
            ReservationState::Expired => Quota::ZERO,
            ReservationState::Settled(before) if before.requested == actual => return Ok((before, Told::Again)),
            ReservationState::Settled(_) | ReservationState::Released => return Err(Refusal::ReservationEnded),
        };
        let kept = held.min(actual);
        let back = held.checked_sub(kept).unwrap_or_default();
        self.give_back(&reservation, back);
        let missing = actual.checked_sub(kept).unwrap_or_default();
        let extra = self.take_up_to(&reservation, missing);
        let settlement = Settlement {
            requested: actual,
            charged: kept.checked_add(extra).unwrap_or(kept),
            shortfall: missing.checked_sub(extra).unwrap_or_default(),
            was_expired: reservation.state == ReservationState::Expired,
        };
        self.end(id, ReservationState::Settled(settlement));
        self.count(reservation.token_id, now);
        Ok((settlement, Told::First))
    }

    /// Ends a reservation by giving all back. Releasing again is fine.
    ///
    /// # Errors
    /// Unknown to the gateway `by`, or settled.
    pub fn release(&mut self, by: Option<GatewayId>, id: ReservationId) -> Result<Told, Refusal> {
        self.made_by(by, id)?;
        self.give_up(id, ReservationState::Released)
    }

    /// Ends a reservation whose time is over, if it is still open, whoever made it.
    ///
    /// # Errors
    /// Unknown, or settled.
    pub fn expire(&mut self, id: ReservationId, now: UnixTime) -> Result<Told, Refusal> {
        match self.reservations.get(&id) {
            Some(open) if open.expires_at > now => Ok(Told::Again),
            _ => self.give_up(id, ReservationState::Expired),
        }
    }

    /// A reservation that a gateway made: others are told that there is none.
    fn made_by(&self, by: Option<GatewayId>, id: ReservationId) -> Result<&Reservation, Refusal> {
        self.reservations.get(&id).filter(|made| made.gateway_id == by).ok_or(Refusal::NoReservation)
    }

    fn give_up(&mut self, id: ReservationId, how: ReservationState) -> Result<Told, Refusal> {
        let reservation = *self.reservations.get(&id).ok_or(Refusal::NoReservation)?;
        match reservation.state {
            ReservationState::Open => {
                self.give_back(&reservation, reservation.held);
                self.end(id, how);
                Ok(Told::First)
            }
            ReservationState::Released | ReservationState::Expired => Ok(Told::Again),
            ReservationState::Settled(_) => Err(Refusal::ReservationEnded),
        }
    }

    /// Moves `quota` from remain to used, on the token and in the wallet. Tells whether the token's
    /// `remain` gave it.
    fn take(&mut self, id: TokenId, quota: Quota, context: &RequestContext, now: UnixTime) -> Result<bool, Refusal> {
        let account = self.tokens.get_mut(&id).filter(|account| !account.is_deleted).ok_or(Refusal::InvalidKey)?;
        let token = &mut account.token;
        let wallet = self.wallets.get_mut(&token.user_id).ok_or(Refusal::InvalidKey)?;
        token.admits(wallet.status, account.group_is_open, context, now)?;
        let budget = match token.budget {
            Budget::Limited { remain } => {
                Budget::Limited { remain: remain.checked_sub(quota).ok_or(Refusal::TokenQuotaInsufficient)? }
            }
            unlimited @ Budget::Unlimited { .. } => unlimited,
        };
        let used = token.used_quota.checked_add(quota).ok_or(Refusal::TokenQuotaInsufficient)?;
        let rest = wallet.quota.checked_sub(quota).ok_or(Refusal::UserQuotaInsufficient)?;
        let spent = wallet.used_quota.checked_add(quota).ok_or(Refusal::UserQuotaInsufficient)?;
        (token.budget, token.used_quota) = (budget, used);
        (wallet.quota, wallet.used_quota) = (rest, spent);
        Ok(!budget.is_unlimited())
    }

    /// Takes what the token and the wallet can pay of `missing`: a cost beyond a hold, for work that
    /// was allowed when it began.
    fn take_up_to(&mut self, reservation: &Reservation, missing: Quota) -> Quota {
        let (Some(account), Some(wallet)) =
            (self.tokens.get_mut(&reservation.token_id), self.wallets.get_mut(&reservation.user_id))
        else {
            return Quota::ZERO;
        };
        let token = &mut account.token;
        let extra = missing.min(token.usable(wallet.quota));
        let (Some(used), Some(spent), Some(rest)) = (
            token.used_quota.checked_add(extra),
            wallet.used_quota.checked_add(extra),
            wallet.quota.checked_sub(extra),
        ) else {
            return Quota::ZERO;
        };
        if let Budget::Limited { remain } = &mut token.budget {
            *remain = remain.checked_sub(extra).unwrap_or_default();
        }
        token.used_quota = used;
        (wallet.quota, wallet.used_quota) = (rest, spent);
        extra
    }

    /// Moves held quota back from used to where it came from.
    fn give_back(&mut self, reservation: &Reservation, quota: Quota) {
        if let Some(account) = self.tokens.get_mut(&reservation.token_id) {
            let token = &mut account.token;
            token.used_quota = token.used_quota.checked_sub(quota).unwrap_or_default();
            if reservation.from_remain {
                let remain = token.budget.remain().checked_add(quota).unwrap_or(token.budget.remain());
                token.budget = Budget::new(remain, token.budget.is_unlimited());
            }
        }
        if let Some(wallet) = self.wallets.get_mut(&reservation.user_id) {
            wallet.quota = wallet.quota.checked_add(quota).unwrap_or(wallet.quota);
            wallet.used_quota = wallet.used_quota.checked_sub(quota).unwrap_or_default();
        }
    }

    fn end(&mut self, id: ReservationId, how: ReservationState) {
        if let Some(reservation) = self.reservations.get_mut(&id) {
            reservation.state = how;
        }
    }

    /// One more request, at `now`. A token's last access never moves back.
    fn count(&mut self, id: TokenId, now: UnixTime) {
        let Some(account) = self.tokens.get_mut(&id) else {
            return;
        };
        account.token.accessed_time = account.token.accessed_time.max(now);
        if let Some(wallet) = self.wallets.get_mut(&account.token.user_id) {
            wallet.request_count = wallet.request_count.saturating_add(1);
        }
    }
}

/// Whether something happened now or had happened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Now.
    First,
    /// Before; nothing changed.
    Again,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ip_allowlist::IpAllowlist;
    use super::super::model_limits::ModelLimits;
    use super::super::policy;
    use super::super::time::Lifetime;
    use super::super::token::tests::token;
    use super::super::user::Role;
    use super::*;

    const NOW: UnixTime = UnixTime::new(1_000);
    const SOON: UnixTime = UnixTime::new(1_600);

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    fn wallet(units: i64) -> Wallet {
        Wallet { quota: quota(units), used_quota: Quota::ZERO, request_count: 0, status: UserStatus::Enabled }
    }

    fn account(id: i64, user: i64, budget: Budget) -> (TokenId, Account) {
        let token = Token { id: TokenId::new(id), user_id: UserId::new(user), budget, ..token() };
        (token.id, Account { token, is_deleted: false, group_is_open: true })
    }

    fn books(remain: i64, in_wallet: i64) -> Books {
        Books {
            wallets: BTreeMap::from([(UserId::new(1), wallet(in_wallet))]),
            tokens: BTreeMap::from([account(1, 1, Budget::new(quota(remain), false))]),
            reservations: BTreeMap::new(),
        }
    }

    const KEY: TokenId = TokenId::new(1);
    const HOLD: ReservationId = ReservationId::new(1);
    const MAKER: Option<GatewayId> = Some(GatewayId::new(1));
    const OTHER: Option<GatewayId> = Some(GatewayId::new(2));

    fn left(books: &Books) -> (i64, i64, i64) {
        let token = &books.tokens[&KEY].token;
        (token.budget.remain().get(), token.used_quota.get(), books.wallets[&UserId::new(1)].quota.get())
    }

    fn held(books: &mut Books, units: i64) {
        let made = books.reserve(MAKER, KEY, quota(units), &RequestContext::default(), SOON, NOW).unwrap();
        books.reservations.insert(HOLD, made);
    }

    #[test]
    fn l6_a_use_is_refused_for_the_first_reason_that_applies() {
        type Change = fn(&mut Books);
        fn token_of(books: &mut Books) -> &mut Account {
            books.tokens.get_mut(&KEY).unwrap()
        }
        fn owner(books: &mut Books) -> &mut Wallet {
            books.wallets.get_mut(&UserId::new(1)).unwrap()
        }
        let table: [(Change, Refusal); 11] = [
            (|b| token_of(b).is_deleted = true, Refusal::InvalidKey),
            (|b| b.wallets.clear(), Refusal::InvalidKey),
            (|b| token_of(b).token.switched_off_by = Some(Role::User), Refusal::TokenDisabled),
            (|b| token_of(b).token.lifetime = Lifetime::Until(NOW), Refusal::TokenExpired),
            (|b| owner(b).status = UserStatus::Disabled, Refusal::UserDisabled),
            (|b| token_of(b).group_is_open = false, Refusal::GroupNotAllowed),
            (
                |b| {
                    token_of(b).token.model_limits_enabled = true;
                    token_of(b).token.model_limits = ModelLimits::parse("another").unwrap();
                },
                Refusal::ModelNotAllowed,
            ),
            (|b| token_of(b).token.allow_ips = IpAllowlist::parse("10.0.0.0/8").unwrap(), Refusal::IpNotAllowed),
            (
                |b| {
                    token_of(b).token.budget = Budget::new(Quota::ZERO, false);
                    token_of(b).token.used_quota = quota(1);
                },
                Refusal::TokenExhausted,
            ),
            (|b| token_of(b).token.budget = Budget::new(quota(4), false), Refusal::TokenQuotaInsufficient),
            (|b| owner(b).quota = quota(4), Refusal::UserQuotaInsufficient),
        ];
        let context = RequestContext { model: Some("gpt".into()), ip: ClientAddress::Known([192, 0, 2, 1].into()) };
        for (change, reason) in table {
            let mut books = books(10, 10);
            change(&mut books);
            let before = books.clone();
            assert_eq!(books.charge(KEY, quota(5), &context, NOW), Err(reason));
            assert_eq!((books.tokens, books.wallets), (before.tokens, before.wallets), "{reason:?} took something");
        }
        assert_eq!(books(5, 5).charge(KEY, quota(5), &context, NOW), Ok(()));
    }

    #[test]
    fn what_is_not_told_is_not_judged() {
        let mut books = books(10, 10);
        let restricted = &mut books.tokens.get_mut(&KEY).unwrap().token;
        restricted.model_limits_enabled = true;
        restricted.allow_ips = IpAllowlist::parse("10.0.0.0/8").unwrap();
        assert_eq!(books.charge(KEY, quota(1), &RequestContext::default(), NOW), Ok(()));
    }

    #[test]
    fn settling_corrects_by_what_it_really_cost() {
        let table = [
            // held, cost: charged, shortfall, then what remains, used, in the wallet
            (6, 6, 6, 0, (4, 6, 14)),
            (6, 2, 2, 0, (8, 2, 18)),
            (6, 0, 0, 0, (10, 0, 20)),
            (6, 9, 9, 0, (1, 9, 11)),
            (6, 15, 10, 5, (0, 10, 10)),
        ];
        for (hold, cost, charged, shortfall, after) in table {
            let mut books = books(10, 20);
            held(&mut books, hold);
            assert_eq!(left(&books), (10 - hold, hold, 20 - hold));
            let expected = Settlement {
                requested: quota(cost),
                charged: quota(charged),
                shortfall: quota(shortfall),
                was_expired: false,
            };
            assert_eq!(books.settle(MAKER, HOLD, quota(cost), NOW), Ok((expected, Told::First)));
            assert_eq!(left(&books), after, "held {hold}, cost {cost}");
        }
    }

    #[test]
    fn l7_a_reservation_ends_exactly_once() {
        let mut settled = books(10, 10);
        held(&mut settled, 4);
        settled.settle(MAKER, HOLD, quota(3), NOW).unwrap();
        let after = left(&settled);
        assert_eq!(settled.settle(MAKER, HOLD, quota(3), NOW).map(|(_, told)| told), Ok(Told::Again));
        assert_eq!(settled.settle(MAKER, HOLD, quota(2), NOW), Err(Refusal::ReservationEnded));
        assert_eq!(settled.release(MAKER, HOLD), Err(Refusal::ReservationEnded));
        assert_eq!(settled.expire(HOLD, SOON), Err(Refusal::ReservationEnded));
        assert_eq!(left(&settled), after);

        let mut released = books(10, 10);
        held(&mut released, 4);
        assert_eq!(released.release(MAKER, HOLD), Ok(Told::First));
        assert_eq!(released.release(MAKER, HOLD), Ok(Told::Again));
        assert_eq!(released.settle(MAKER, HOLD, quota(4), NOW), Err(Refusal::ReservationEnded));
        assert_eq!(left(&released), (10, 0, 10));
        assert_eq!(released.release(MAKER, ReservationId::new(9)), Err(Refusal::NoReservation));
    }

    #[test]
    fn l7_only_the_gateway_that_made_a_reservation_settles_or_releases_it() {
        type End = fn(&mut Books);
        let states: [End; 4] = [
            |_| (),
            |books| assert!(books.settle(MAKER, HOLD, quota(3), NOW).is_ok()),
            |books| assert!(books.release(MAKER, HOLD).is_ok()),
            |books| assert!(books.expire(HOLD, SOON).is_ok()),
        ];
        for end in states {
            let mut books = books(10, 10);
            held(&mut books, 4);
            end(&mut books);
            let before = books.clone();
            let state = before.reservations[&HOLD].state;
            for stranger in [OTHER, None] {
                for cost in [0, 3, 4, 9] {
                    let settled = books.settle(stranger, HOLD, quota(cost), SOON);
                    assert_eq!(settled, Err(Refusal::NoReservation), "{state:?}");
                }
                assert_eq!(books.release(stranger, HOLD), Err(Refusal::NoReservation), "{state:?}");
            }
            assert_eq!(books.reservations, before.reservations);
            assert_eq!((books.tokens, books.wallets), (before.tokens, before.wallets), "{state:?}");
        }
    }

    #[test]
    fn a_reservation_expires_not_before_its_time_and_can_be_settled_from_what_is_left() {
        let mut books = books(10, 10);
        held(&mut books, 4);
        assert_eq!(books.expire(HOLD, NOW), Ok(Told::Again));
        assert_eq!(left(&books), (6, 4, 6));
        assert_eq!(books.expire(HOLD, SOON), Ok(Told::First));
        assert_eq!(left(&books), (10, 0, 10));
        books.charge(KEY, quota(8), &RequestContext::default(), NOW).unwrap();
        let late = Settlement { requested: quota(4), charged: quota(2), shortfall: quota(2), was_expired: true };
        assert_eq!(books.settle(MAKER, HOLD, quota(4), SOON), Ok((late, Told::First)));
        assert_eq!(left(&books), (0, 10, 0));
    }

    #[test]
    fn held_quota_returns_to_where_it_came_from_though_the_token_changed_meanwhile() {
        let mut books = books(10, 10);
        held(&mut books, 4);
        books.tokens.get_mut(&KEY).unwrap().token.budget = Budget::new(quota(6), true);
        books.release(MAKER, HOLD).unwrap();
        assert_eq!(left(&books), (10, 0, 10));
        assert!(books.tokens[&KEY].token.budget.is_unlimited());
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

    #[derive(Debug, Clone)]
    enum Step {
        Charge { token: i64, units: i64 },
        Reserve { token: i64, units: i64 },
        Settle { by: Option<GatewayId>, nth: prop::sample::Index, units: i64 },
        Release { by: Option<GatewayId>, nth: prop::sample::Index },
        Expire { nth: prop::sample::Index, at: i64 },
        Switch { token: i64, on: bool },
        Delete { token: i64 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let units = || prop_oneof![0_i64..60, Just(0), Just(policy::MAX_QUOTA)];
        let token = || 1_i64..=3;
        let nth = any::<prop::sample::Index>;
        let by = || prop_oneof![4 => Just(MAKER), 1 => Just(OTHER)];
        prop::collection::vec(
            prop_oneof![
                6 => (token(), units()).prop_map(|(token, units)| Step::Charge { token, units }),
                6 => (token(), units()).prop_map(|(token, units)| Step::Reserve { token, units }),
                4 => (by(), nth(), units()).prop_map(|(by, nth, units)| Step::Settle { by, nth, units }),
                2 => (by(), nth()).prop_map(|(by, nth)| Step::Release { by, nth }),
                2 => (nth(), 900_i64..2_000).prop_map(|(nth, at)| Step::Expire { nth, at }),
                1 => (token(), any::<bool>()).prop_map(|(token, on)| Step::Switch { token, on }),
                1 => token().prop_map(|token| Step::Delete { token }),
            ],
            0..80,
        )
    }

    proptest! {
        /// L1, L2, L3 and L7 after every step of any sequence, over two wallets, two limited tokens
        /// and an unlimited one.
        #[test]
        fn any_sequence_of_operations_keeps_the_law(steps in steps()) {
            let mut books = Books {
                wallets: BTreeMap::from([(UserId::new(1), wallet(150)), (UserId::new(2), wallet(80))]),
                tokens: BTreeMap::from([
                    account(1, 1, Budget::new(quota(100), false)),
                    account(2, 1, Budget::new(quota(7), true)),
                    account(3, 2, Budget::new(quota(90), false)),
                ]),
                reservations: BTreeMap::new(),
            };
            let granted: BTreeMap<_, _> = books.tokens.iter().map(|(id, a)| (*id, a.token.budget.remain())).collect();
            let (mut charges, mut ended): (BTreeMap<TokenId, i64>, BTreeMap<ReservationId, ReservationState>) = Default::default();
            for step in steps {
                let ids: Vec<_> = books.reservations.keys().copied().collect();
                let pick = |nth: prop::sample::Index| if ids.is_empty() { HOLD } else { ids[nth.index(ids.len())] };
                match step {
                    Step::Charge { token, units } => {
                        let id = TokenId::new(token);
                        if books.charge(id, quota(units), &RequestContext::default(), NOW).is_ok() {
                            *charges.entry(id).or_default() += units;
                        }
                    }
                    Step::Reserve { token, units } => {
                        if let Ok(made) = books.reserve(MAKER, TokenId::new(token), quota(units), &RequestContext::default(), SOON, NOW) {
                            let next = i64::try_from(books.reservations.len()).unwrap() + 1;
                            books.reservations.insert(ReservationId::new(next), made);
                        }
                    }
                    Step::Settle { by, nth, units } => {
                        if let Ok((settlement, Told::First)) = books.settle(by, pick(nth), quota(units), NOW) {
                            prop_assert_eq!(by, MAKER, "L7");
                            let token = books.reservations[&pick(nth)].token_id;
                            *charges.entry(token).or_default() += settlement.charged.get();
                            let told = settlement.charged.checked_add(settlement.shortfall);
                            prop_assert_eq!(told, Some(settlement.requested));
                        }
                    }
                    Step::Release { by, nth } => {
                        let released = books.release(by, pick(nth));
                        prop_assert!(by == MAKER || released == Err(Refusal::NoReservation), "L7");
                    }
                    Step::Expire { nth, at } => drop(books.expire(pick(nth), UnixTime::new(at))),
                    Step::Switch { token, on } => {
                        books.tokens.get_mut(&TokenId::new(token)).unwrap().token.switched_off_by = (!on).then_some(Role::User);
                    }
                    Step::Delete { token } => books.tokens.get_mut(&TokenId::new(token)).unwrap().is_deleted = true,
                }
                for (id, account) in &books.tokens {
                    let token = &account.token;
                    let open: i64 = open_holds(&books, |r| r.token_id == *id);
                    let sum = charges.get(id).copied().unwrap_or_default() + open;
                    prop_assert_eq!(token.used_quota.get(), sum, "L3 of token {}", id);
                    prop_assert!(token.budget.remain().get() >= 0 && token.used_quota.get() >= 0, "L1");
                    match token.budget {
                        Budget::Limited { remain } => {
                            prop_assert_eq!(remain.checked_add(token.used_quota), Some(granted[id]), "L2");
                        }
                        Budget::Unlimited { shelved } => prop_assert_eq!(shelved, granted[id]),
                    }
                }
                for (id, wallet) in &books.wallets {
                    let of_user = |token: &TokenId| books.tokens[token].token.user_id == *id;
                    let charged: i64 = charges.iter().filter(|(token, _)| of_user(token)).map(|(_, sum)| sum).sum();
                    let sum = charged + open_holds(&books, |r| r.user_id == *id);
                    prop_assert_eq!(wallet.used_quota.get(), sum, "L3 of wallet {}", id);
                    prop_assert!(wallet.quota.get() >= 0, "L1");
                    prop_assert_eq!(wallet.quota.get() + sum, if id.get() == 1 { 150 } else { 80 });
                }
                for (id, reservation) in &books.reservations {
                    // An expired one may still be settled; every other end is the last.
                    let before = ended.insert(*id, reservation.state);
                    let is_final = before.is_some_and(|state| !matches!(state, ReservationState::Open | ReservationState::Expired));
                    prop_assert!(!is_final || before == Some(reservation.state), "L7");
                }
            }
        }
    }

    fn open_holds(books: &Books, of: impl Fn(&Reservation) -> bool) -> i64 {
        let open = books.reservations.values().filter(|r| r.state == ReservationState::Open && of(r));
        open.map(|r| r.held.get()).sum()
    }
}
