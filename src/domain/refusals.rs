//! Single requests that were refused (spec §13.8). They are samples: a key that is used up can be refused thousands of
//! times a second, and its owner needs to see why, not each time. [`RefusedRequests`](crate::domain::refused_requests)
//! counts them all.

use std::collections::HashMap;
use std::net::IpAddr;

use ipnet::IpNet;

use super::bounds;
use super::client_addresses::network;
use super::id::{GatewayId, TokenId, UserId};
use super::key::Digest;
use super::ledger::{Refusal, RefusalReason, RequestContext};
use super::money::Quota;
use super::remedy::{Outlook, RefusedAttempt};
use super::request_history::RequestToken;
use super::time::UnixTime;
use crate::domain::named::named;

named! {
    /// What a gateway asked for when it was refused.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
    #[sqlx(type_name = "text", rename_all = "snake_case")]
    pub enum RefusedCall {
        Verify = "verify",
        ForwardAuth = "forward_auth",
        Charge = "charge",
        Reserve = "reserve",
        Extend = "extend",
    }
}

/// A request that was refused.
#[derive(Debug, Clone, Copy)]
pub struct RefusedRequest<'a> {
    pub at: UnixTime,
    /// The owner and the token; `None` if no live token has the key.
    pub token: Option<(UserId, TokenId)>,
    /// Of a key that no live token has, unless no token can have it.
    pub digest: Option<&'a Digest>,
    pub gateway: GatewayId,
    pub call: RefusedCall,
    pub refusal: Refusal,
    pub context: &'a RequestContext,
    /// The amount that was asked for, if one was.
    pub quota: Option<Quota>,
    /// The gateway's id of the request.
    pub request_id: Option<&'a str>,
}

/// Refusals of one token for one reason in the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentRefusals {
    /// `None` if no token ever had the key.
    pub token: Option<RequestToken>,
    pub reason: RefusalReason,
    /// At least so many: samples and what they stand for.
    pub requests: i64,
    pub last: UnixTime,
    /// The newest of which all is known.
    pub newest: Option<(UnixTime, RefusedAttempt)>,
    pub outlook: Outlook,
}

/// A refused request that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalSample {
    pub at: UnixTime,
    pub token: Option<(UserId, TokenId)>,
    /// Finds a deleted token. It is not stored.
    pub digest: Option<Digest>,
    pub gateway: GatewayId,
    pub call: RefusedCall,
    pub refusal: Refusal,
    /// Empty if the gateway named none.
    pub model: String,
    pub ip: Option<IpAddr>,
    pub quota: Option<Quota>,
    pub request_id: Option<String>,
    /// How many more were refused in this minute, of the same key and for the same reason, that are not kept.
    pub suppressed: i64,
}

impl RefusalSample {
    fn of(request: &RefusedRequest<'_>) -> Self {
        Self {
            at: request.at,
            token: request.token,
            digest: request.digest.cloned(),
            gateway: request.gateway,
            call: request.call,
            refusal: request.refusal,
            model: request.context.model.clone().unwrap_or_default(),
            ip: request.context.ip.known(),
            quota: request.quota,
            request_id: request.request_id.map(str::to_owned),
            suppressed: 0,
        }
    }
}

/// Refused requests that are alike. Those with unknown keys are alike if they come from one network, because one client
/// may try many keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Token(TokenId, RefusalReason),
    /// `None`: from any network that is not told apart.
    Unknown(GatewayId, Option<IpNet>),
}

impl Kind {
    fn of(request: &RefusedRequest<'_>) -> Self {
        match request.token {
            Some((_, token)) => Self::Token(token, request.refusal.reason),
            None => Self::Unknown(request.gateway, request.context.ip.known().and_then(network)),
        }
    }

    const fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown(..))
    }

    /// Who shares the rows of a server fairly.
    const fn sharer(self) -> Self {
        match self {
            // Any reason: a key gets no second share for being refused in two ways.
            Self::Token(token, _) => Self::Token(token, RefusalReason::InvalidKey),
            Self::Unknown(gateway, _) => Self::Unknown(gateway, None),
        }
    }
}

/// The requests of one kind in the present minute.
#[derive(Debug, Clone, Copy)]
struct Seen {
    kept: u32,
    suppressed: i64,
    /// The latest of those that are suppressed.
    last: Option<Last>,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    at: UnixTime,
    token: Option<(UserId, TokenId)>,
    gateway: GatewayId,
    call: RefusedCall,
    refusal: Refusal,
    ip: Option<IpAddr>,
}

/// Chooses which refused requests are kept: of each kind [`bounds::MAX_REFUSALS_A_MINUTE`] rows a minute, the last of
/// which says how many have none. Everything in it is bounded, and keys that nobody has take no place from those of
/// tokens.
#[derive(Debug, Default)]
pub struct RefusalSampler {
    minute: i64,
    seen: HashMap<Kind, Seen>,
    /// Kinds of unknown keys in `seen`.
    unknown_seen: usize,
    waiting: Vec<(Kind, RefusalSample)>,
    /// Those of unknown keys in `waiting`.
    unknown_waiting: usize,
}

impl RefusalSampler {
    /// Takes a request, or leaves it out. A request that is left out costs one look-up and no memory.
    pub fn offer(&mut self, request: &RefusedRequest<'_>) {
        self.begin_minute(request.at);
        let Some(kind) = self.admit(Kind::of(request)) else {
            return;
        };
        let is_kept = self
            .seen
            .get(&kind)
            .is_some_and(|seen| seen.kept + 1 < bounds::MAX_REFUSALS_A_MINUTE && self.has_room(kind, seen.kept == 0));
        if is_kept {
            self.push(kind, RefusalSample::of(request));
        }
        if let Some(seen) = self.seen.get_mut(&kind) {
            if is_kept {
                seen.kept += 1;
            } else {
                let RefusedRequest { at, token, gateway, call, refusal, context, .. } = *request;
                seen.suppressed = seen.suppressed.saturating_add(1);
                seen.last = Some(Last { at, token, gateway, call, refusal, ip: context.ip.known() });
            }
        }
    }

    /// Takes at most `most` samples out, in turn among keys. Of those that do not fit, the last rows of a minute wait
    /// on, and the others are left out.
    pub fn take(&mut self, now: UnixTime, most: usize) -> Vec<RefusalSample> {
        self.begin_minute(now);
        let mut turns: HashMap<Kind, usize> = HashMap::new();
        let mut samples: Vec<(usize, Kind, RefusalSample)> = std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|(kind, sample)| {
                let turn = turns.entry(kind.sharer()).or_default();
                *turn += 1;
                (*turn, kind, sample)
            })
            .collect();
        self.unknown_waiting = 0;
        samples.sort_by_key(|(turn, ..)| *turn);
        for (_, kind, sample) in samples.split_off(most.min(samples.len())) {
            if sample.suppressed > 0 {
                self.push(kind, sample);
            } else if let Some(seen) = self.seen.get_mut(&kind) {
                let RefusalSample { at, token, gateway, call, refusal, ip, .. } = sample;
                seen.suppressed = seen.suppressed.saturating_add(1);
                seen.last = seen.last.or(Some(Last { at, token, gateway, call, refusal, ip }));
            }
        }
        samples.into_iter().map(|(_, _, sample)| sample).collect()
    }

    /// The kind that is counted, with its entry. `None` at the bound.
    fn admit(&mut self, kind: Kind) -> Option<Kind> {
        let is_new = |sampler: &Self, kind: Kind| !sampler.seen.contains_key(&kind);
        let mut kind = kind;
        if let Kind::Unknown(gateway, Some(_)) = kind
            && is_new(self, kind)
            && self.unknown_seen >= bounds::MAX_UNKNOWN_REFUSAL_KINDS
        {
            // Gateways are few.
            kind = Kind::Unknown(gateway, None);
        }
        if is_new(self, kind) {
            if !kind.is_unknown() && self.seen.len() - self.unknown_seen >= bounds::MAX_REFUSAL_KINDS {
                return None;
            }
            self.unknown_seen += usize::from(kind.is_unknown());
            self.seen.insert(kind, Seen { kept: 0, suppressed: 0, last: None });
        }
        Some(kind)
    }

    fn has_room(&self, kind: Kind, is_first: bool) -> bool {
        if kind.is_unknown() {
            return self.unknown_waiting < bounds::MAX_UNKNOWN_REFUSALS_WAITING;
        }
        let waiting = self.waiting.len() - self.unknown_waiting;
        // The second half of the queue is for kinds that have nothing in it: one busy key keeps no other out.
        waiting < bounds::MAX_REFUSALS_WAITING / 2 || (waiting < bounds::MAX_REFUSALS_WAITING && is_first)
    }

    fn push(&mut self, kind: Kind, sample: RefusalSample) {
        self.unknown_waiting += usize::from(kind.is_unknown());
        self.waiting.push((kind, sample));
    }

    /// Ends the minute before, if it is over: each kind of which requests were left out gets its last row, as far as
    /// these fit.
    fn begin_minute(&mut self, at: UnixTime) {
        let minute = at.get().div_euclid(60);
        // At the end of a minute, times of both come: a batch has one time for all its operations.
        if minute == self.minute || minute == self.minute - 1 {
            return;
        }
        self.minute = minute;
        self.unknown_seen = 0;
        for (kind, seen) in std::mem::take(&mut self.seen) {
            let Some(Last { at, token, gateway, call, refusal, ip }) = seen.last.filter(|_| self.has_room(kind, true))
            else {
                continue;
            };
            // The row itself stands for one of them.
            let suppressed = seen.suppressed - 1;
            let (digest, model, quota, request_id) = (None, String::new(), None, None);
            self.push(
                kind,
                RefusalSample { at, token, digest, gateway, call, refusal, model, ip, quota, request_id, suppressed },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::ip_allowlist::ClientAddress;

    const GATEWAY: GatewayId = GatewayId::new(1);

    fn request(at: i64, token: i64, context: &RequestContext) -> RefusedRequest<'_> {
        RefusedRequest {
            at: UnixTime::new(at),
            token: Some((UserId::new(1), TokenId::new(token))),
            digest: None,
            gateway: GATEWAY,
            call: RefusedCall::Verify,
            refusal: RefusalReason::TokenExhausted.into(),
            context,
            quota: None,
            request_id: None,
        }
    }

    fn unknown<'a>(ip: &str, context: &'a mut RequestContext) -> RefusedRequest<'a> {
        context.ip = ClientAddress::Known(ip.parse().unwrap());
        RefusedRequest { token: None, refusal: RefusalReason::InvalidKey.into(), ..request(0, 0, context) }
    }

    fn suppressed(samples: &[RefusalSample]) -> Vec<i64> {
        samples.iter().map(|sample| sample.suppressed).collect()
    }

    #[test]
    fn a_minute_of_one_key_has_five_rows_and_the_last_one_counts_the_others() {
        let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
        for _ in 0..1_000 {
            sampler.offer(&request(0, 1, &context));
        }
        assert_eq!(suppressed(&sampler.take(UnixTime::new(5), 250)), [0, 0, 0, 0]);
        for _ in 0..1_000 {
            sampler.offer(&request(59, 1, &context));
        }
        assert_eq!(suppressed(&sampler.take(UnixTime::new(59), 250)), [0_i64; 0]);
        let last = sampler.take(UnixTime::new(60), 250);
        assert_eq!((suppressed(&last), last[0].at), (vec![1_995], UnixTime::new(59)));
        assert!(sampler.take(UnixTime::new(120), 250).is_empty());
    }

    #[test]
    fn five_requests_have_five_rows_and_none_is_suppressed() {
        let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
        for second in 0..5 {
            sampler.offer(&request(second, 1, &context));
        }
        let mut samples = sampler.take(UnixTime::new(5), 250);
        samples.extend(sampler.take(UnixTime::new(60), 250));
        assert_eq!(suppressed(&samples), [0; 5]);
    }

    #[test]
    fn keys_take_turns_and_a_busy_one_keeps_no_other_out() {
        let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
        let most = i64::try_from(bounds::MAX_REFUSALS_WAITING).unwrap();
        for token in 1..most {
            for _ in 0..9 {
                sampler.offer(&request(0, token, &context));
            }
        }
        let samples = sampler.take(UnixTime::new(0), 250);
        let keys: std::collections::BTreeSet<_> = samples.iter().map(|sample| sample.token).collect();
        assert_eq!((samples.len(), keys.len()), (250, 250));
    }

    #[test]
    fn unknown_keys_are_alike_if_their_gateway_and_network_are() {
        let (mut sampler, mut context) = (RefusalSampler::default(), RequestContext::default());
        for _ in 0..9 {
            sampler.offer(&unknown("203.0.113.7", &mut context));
        }
        sampler.offer(&unknown("203.0.114.8", &mut context));
        assert_eq!(sampler.take(UnixTime::new(1), 250).len(), 5);
        let last = sampler.take(UnixTime::new(60), 250);
        assert_eq!((suppressed(&last), last[0].ip), (vec![4], Some("203.0.113.7".parse().unwrap())));
    }

    #[test]
    fn keys_that_nobody_has_take_no_place_from_those_of_tokens() {
        let (mut sampler, mut context) = (RefusalSampler::default(), RequestContext::default());
        for n in 0..20_000 {
            sampler.offer(&unknown(&format!("10.{}.{}.1", n / 200, n % 200), &mut context));
        }
        assert_eq!(sampler.waiting.len(), bounds::MAX_UNKNOWN_REFUSALS_WAITING);
        assert_eq!(sampler.seen.len(), bounds::MAX_UNKNOWN_REFUSAL_KINDS + 1);
        sampler.offer(&request(0, 7, &RequestContext::default()));
        let samples = sampler.take(UnixTime::new(0), 250);
        assert_eq!(samples.iter().filter(|sample| sample.token.is_some()).count(), 1);
    }

    #[test]
    fn times_of_both_minutes_at_the_end_of_one_are_the_same_minute() {
        let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
        for _ in 0..50 {
            sampler.offer(&request(59, 1, &context));
            sampler.offer(&request(60, 1, &context));
        }
        let mut samples = sampler.take(UnixTime::new(60), 250);
        samples.extend(sampler.take(UnixTime::new(120), 250));
        // One of second 59 came first; then the minute of second 60 began.
        assert_eq!(samples.len(), 1 + 5);
        assert_eq!(samples.iter().map(|sample| 1 + sample.suppressed).sum::<i64>(), 100);
    }

    #[test]
    fn the_last_rows_of_a_minute_wait_until_they_are_written() {
        let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
        let keys = i64::try_from(bounds::MAX_REFUSALS_WAITING).unwrap();
        for _ in 0..20 {
            for token in 0..keys {
                sampler.offer(&request(0, token, &context));
            }
        }
        let mut samples = Vec::new();
        for second in 0..60 {
            samples.extend(sampler.take(UnixTime::new(59 + second), 250));
        }
        let last = samples.iter().filter(|sample| sample.suppressed > 0).count();
        assert_eq!(last, bounds::MAX_REFUSALS_WAITING);
        assert!(sampler.waiting.is_empty());
    }

    proptest! {
        /// Whatever comes: rows and suppressed ones together are what was offered, as long as all kinds and rows fit.
        #[test]
        fn rows_and_suppressed_ones_are_all_that_was_refused(
            requests in proptest::collection::vec((0_i64..4, 0_i64..30), 0..200),
        ) {
            let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
            let (mut now, mut samples) = (0, Vec::new());
            for (token, wait) in &requests {
                now += wait;
                sampler.offer(&request(now, *token, &context));
                if wait % 7 == 0 {
                    samples.extend(sampler.take(UnixTime::new(now), 250));
                }
            }
            samples.extend(sampler.take(UnixTime::new(now + 60), 250));
            let counted: i64 = samples.iter().map(|sample| 1 + sample.suppressed).sum();
            prop_assert_eq!(counted, i64::try_from(requests.len()).unwrap());
            for token in 0..4 {
                for minute in 0..=now / 60 {
                    let token = Some((UserId::new(1), TokenId::new(token)));
                    let rows = samples.iter().filter(|sample| sample.token == token && sample.at.get() / 60 == minute);
                    prop_assert!(rows.count() <= 5);
                }
            }
        }

        #[test]
        fn nothing_grows_without_bound(keys in proptest::collection::vec((0_i64..100_000, 0_i64..2), 0..6_000)) {
            let (mut sampler, context) = (RefusalSampler::default(), RequestContext::default());
            let mut now = 0;
            for (key, wait) in keys {
                now += wait;
                for _ in 0..6 {
                    sampler.offer(&request(now, key, &context));
                }
                prop_assert!(sampler.waiting.len() <= bounds::MAX_REFUSALS_WAITING);
                prop_assert!(sampler.seen.len() <= bounds::MAX_REFUSAL_KINDS);
            }
            prop_assert!(sampler.take(UnixTime::new(now), 250).len() <= 250);
        }
    }
}
