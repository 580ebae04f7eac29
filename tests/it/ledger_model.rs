//! Random sequences of all operations that change quota (docs/ledger.md), compared with a small model: every answer and
//! every balance must equal that of the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use keymeter::api::state::AppState;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::app::expire_on;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, TestApp};

const STEPS: usize = 900;

type ApiError = (u16, &'static str, &'static str);

const INVALID_KEY: ApiError = (401, "invalid_key", "this API key is not valid");
const TOKEN_DISABLED: ApiError = (403, "token_disabled", "this token is disabled");
const USER_DISABLED: ApiError = (403, "user_disabled", "the account of this token is disabled");
const TOKEN_EXHAUSTED: ApiError = (402, "token_exhausted", "this token has used up its quota");
const TOKEN_QUOTA_INSUFFICIENT: ApiError =
    (402, "token_quota_insufficient", "insufficient token quota for this amount");
const USER_QUOTA_INSUFFICIENT: ApiError =
    (402, "user_quota_insufficient", "insufficient account quota for this amount");
const REQUEST_ID_REUSED: ApiError =
    (409, "request_id_reused", "this request_id was used for another request; give each request its own id");
const RESERVATION_ENDED: ApiError = (409, "reservation_ended", "this reservation has already ended");
const ENABLE_REFUSED: ApiError =
    (409, "token_exhausted", "the token has used up its quota; raise it or make it unlimited before enabling it");

#[derive(Default)]
struct Wallet {
    quota: i64,
    used: i64,
    requests: i64,
    off: bool,
}

struct Token {
    owner: usize,
    remain: i64,
    used: i64,
    unlimited: bool,
    off: bool,
    deleted: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Settled { requested: i64, charged: i64, shortfall: i64, was_expired: bool },
    Released,
    Expired,
    ChargedOnExpiry,
}

#[derive(Clone, Copy)]
struct Reservation {
    token: usize,
    quota: i64,
    from_remain: bool,
    until: i64,
    charge_on_expiry: bool,
    state: State,
}

/// The expected balances.
#[derive(Default)]
struct Model {
    now: i64,
    wallets: Vec<Wallet>,
    tokens: Vec<Token>,
    reserved: Vec<Reservation>,
    /// By request id.
    records: BTreeMap<u32, Record>,
}

/// A request with an id, and the remaining quota in its answer.
#[derive(Clone, Copy)]
enum Record {
    Charge { token: usize, quota: i64, remain: i64 },
    Reserve { asked: Asked, hold: usize, remain: i64 },
}

/// A reservation as it is asked for.
#[derive(Clone, Copy, PartialEq)]
struct Asked {
    token: usize,
    quota: i64,
    seconds: i64,
    charge_on_expiry: bool,
}

/// A reservation as it is answered.
struct Reserved {
    hold: usize,
    quota: i64,
    until: i64,
    remain: i64,
}

impl Model {
    fn take(&mut self, token: usize, quota: i64) -> Result<i64, ApiError> {
        let token = &mut self.tokens[token];
        let wallet = &mut self.wallets[token.owner];
        match () {
            () if token.deleted => Err(INVALID_KEY),
            () if token.off => Err(TOKEN_DISABLED),
            () if wallet.off => Err(USER_DISABLED),
            () if token.is_exhausted() && quota > 0 => Err(TOKEN_EXHAUSTED),
            () if !token.unlimited && token.remain < quota => Err(TOKEN_QUOTA_INSUFFICIENT),
            () if wallet.quota < quota => Err(USER_QUOTA_INSUFFICIENT),
            () => {
                token.transfer(wallet, quota, !token.unlimited);
                Ok(token.remain)
            }
        }
    }

    fn charge(&mut self, token: usize, quota: i64, id: Option<u32>) -> Result<i64, ApiError> {
        match id.and_then(|id| self.records.get(&id)) {
            Some(Record::Charge { token: t, quota: q, remain }) if (*t, *q) == (token, quota) => return Ok(*remain),
            Some(_) => return Err(REQUEST_ID_REUSED),
            None => {}
        }
        let remain = self.take(token, quota)?;
        self.wallets[self.tokens[token].owner].requests += 1;
        self.records.extend(id.map(|id| (id, Record::Charge { token, quota, remain })));
        Ok(remain)
    }

    fn reserve(&mut self, asked: Asked, id: Option<u32>) -> Result<Reserved, ApiError> {
        match id.and_then(|id| self.records.get(&id)) {
            Some(Record::Reserve { asked: before, hold, remain }) if *before == asked => {
                let Reservation { state, quota, until, .. } = self.reserved[*hold];
                let again = Reserved { hold: *hold, quota, until, remain: *remain };
                return if state == State::Open && self.now < until { Ok(again) } else { Err(RESERVATION_ENDED) };
            }
            Some(_) => return Err(REQUEST_ID_REUSED),
            None => {}
        }
        let Asked { token, quota, seconds, charge_on_expiry } = asked;
        let remain = self.take(token, quota)?;
        let from_remain = !self.tokens[token].unlimited;
        let (hold, until) = (self.reserved.len(), self.now + seconds);
        self.reserved.push(Reservation { token, quota, from_remain, until, charge_on_expiry, state: State::Open });
        self.records.extend(id.map(|id| (id, Record::Reserve { asked, hold, remain })));
        Ok(Reserved { hold, quota, until, remain })
    }

    /// Returns what is held, until when, and the remaining quota.
    fn extend(&mut self, hold: usize, total: i64, seconds: i64) -> Result<(i64, i64, i64), ApiError> {
        let Reservation { token, quota, from_remain, until, state, .. } = self.reserved[hold];
        if state != State::Open || until <= self.now {
            return Err(RESERVATION_ENDED);
        }
        let (more, later) = (total.max(quota), until.max(self.now + seconds));
        if (more, later) != (quota, until) {
            let owner = self.tokens[token].owner;
            match () {
                () if more > quota => drop(self.take(token, more - quota)?),
                () if self.tokens[token].deleted => return Err(INVALID_KEY),
                () if self.tokens[token].off => return Err(TOKEN_DISABLED),
                () if self.wallets[owner].off => return Err(USER_DISABLED),
                () => {}
            }
            let (token, wallet) = (&mut self.tokens[token], &mut self.wallets[owner]);
            if more > quota {
                // What was held before is held like what is added.
                token.transfer(wallet, -quota, from_remain || !token.unlimited);
                token.transfer(wallet, quota, !token.unlimited);
                self.reserved[hold].from_remain = !token.unlimited;
            }
            (self.reserved[hold].quota, self.reserved[hold].until) = (more, later);
        }
        Ok((more, later, self.tokens[token].remain))
    }

    /// Returns charged, shortfall, true if it had expired, and the remaining quota.
    fn settle(&mut self, hold: usize, requested: i64) -> Result<(i64, i64, bool, i64), ApiError> {
        let hold = &mut self.reserved[hold];
        let token = &mut self.tokens[hold.token];
        let wallet = &mut self.wallets[token.owner];
        let was_expired = hold.state == State::Expired;
        match hold.state {
            State::Released | State::ChargedOnExpiry => return Err(RESERVATION_ENDED),
            State::Settled { requested: before, .. } if before != requested => return Err(RESERVATION_ENDED),
            State::Settled { charged, shortfall, was_expired, .. } => {
                return Ok((charged, shortfall, was_expired, token.remain));
            }
            State::Open => {
                let to_remain = hold.from_remain || !token.unlimited;
                token.transfer(wallet, -(hold.quota - requested).max(0), to_remain);
            }
            State::Expired => {}
        }
        let kept = if was_expired { 0 } else { hold.quota.min(requested) };
        let reach = if token.unlimited { wallet.quota } else { wallet.quota.min(token.remain) };
        let extra = reach.min(requested - kept);
        token.transfer(wallet, extra, !token.unlimited);
        wallet.requests += 1;
        let (charged, shortfall) = (kept + extra, requested - kept - extra);
        hold.state = State::Settled { requested, charged, shortfall, was_expired };
        Ok((charged, shortfall, was_expired, token.remain))
    }

    fn end(&mut self, hold: usize, how: State) -> Result<i64, ApiError> {
        let hold = &mut self.reserved[hold];
        let token = &mut self.tokens[hold.token];
        match hold.state {
            State::Settled { .. } | State::ChargedOnExpiry => return Err(RESERVATION_ENDED),
            State::Released | State::Expired => {}
            State::Open => {
                token.transfer(&mut self.wallets[token.owner], -hold.quota, hold.from_remain || !token.unlimited);
                hold.state = how;
            }
        }
        Ok(token.remain)
    }

    fn advance(&mut self, seconds: i64) {
        self.now += seconds;
        for hold in 0..self.reserved.len() {
            let Reservation { token, until, charge_on_expiry, state, .. } = self.reserved[hold];
            if state != State::Open || until > self.now {
                continue;
            }
            if !charge_on_expiry {
                self.end(hold, State::Expired).unwrap();
            } else if self.now - crate::harness::START >= 300 {
                self.reserved[hold].state = State::ChargedOnExpiry;
                self.wallets[self.tokens[token].owner].requests += 1;
            }
        }
    }
}

impl Token {
    fn is_exhausted(&self) -> bool {
        !self.unlimited && self.remain == 0 && self.used > 0
    }

    fn transfer(&mut self, wallet: &mut Wallet, quota: i64, from_remain: bool) {
        self.remain -= if from_remain { quota } else { 0 };
        self.used += quota;
        wallet.quota -= quota;
        wallet.used += quota;
    }
}

/// The service and its callers.
struct World {
    app: TestApp,
    root: Caller,
    gateway: Caller,
    owners: Vec<Caller>,
    tokens: Vec<(i64, String)>,
    reservations: Vec<Value>,
    /// Another server, whose job expires overdue reservations.
    replica: Arc<AppState>,
}

impl World {
    async fn with_model(pool: PgPool) -> (Self, Model) {
        let app = TestApp::new(pool).await;
        let replica = app.replica();
        let (root, gateway) = (app.root().await, app.gateway().await);
        let mut world =
            Self { app, root, gateway, owners: Vec::new(), tokens: Vec::new(), reservations: Vec::new(), replica };
        let mut model = Model { now: crate::harness::START, ..Model::default() };
        for (owner, name) in ["ana", "bob"].into_iter().enumerate() {
            let person = world.app.enabled_user(name).await;
            world.app.fills(&person, 1_000).await;
            let person = person.by_access_token().await;
            model.wallets.push(Wallet { quota: 1_000, ..Wallet::default() });
            for unlimited in [false, false, true] {
                let token = json!({ "name": name, "remain_quota": 400, "unlimited_quota": unlimited });
                world.tokens.push(person.creates_with_key(token).await);
                model.tokens.push(Token { owner, remain: 400, used: 0, unlimited, off: false, deleted: false });
            }
            world.owners.push(person);
        }
        (world, model)
    }

    async fn post(&self, call: &str, body: Value) -> Answer {
        self.gateway.post(&format!("/api/gateway/{call}"), body).await
    }

    /// This answer of a charge or a reservation, with the properties of its token.
    fn of_token(&self, token: usize, mut answer: Value) -> Value {
        let (owner, name) = if token < 3 { (0, "ana") } else { (1, "bob") };
        answer["token_id"] = json!(self.tokens[token].0);
        answer["user_id"] = json!(self.owners[owner].id);
        answer["name"] = json!(name);
        answer["group"] = json!("default");
        answer
    }

    async fn step(&mut self, rng: &mut StdRng, model: &mut Model) {
        let token = rng.random_range(0..self.tokens.len());
        let (id, key) = self.tokens[token].clone();
        let owner = model.tokens[token].owner;
        let quota = rng.random_range(0..=60);
        let hold = (!self.reservations.is_empty()).then(|| rng.random_range(0..self.reservations.len()));
        match (rng.random_range(0..100), hold) {
            (0..25, _) => {
                let request = rng.random_bool(0.6).then(|| rng.random_range(0..80_u32));
                // Most known ids are sent again with their first body.
                let before = request.and_then(|request| model.records.get(&request));
                let (token, quota) = match before {
                    Some(Record::Charge { token, quota, .. }) if rng.random_bool(0.7) => (*token, *quota),
                    _ => (token, quota),
                };
                let mut charge = json!({ "key": self.tokens[token].1, "quota": quota });
                if let Some(request) = request {
                    charge["request_id"] = json!(format!("r{request}"));
                }
                let answer = self.post("charge", charge.clone()).await;
                assert_answer(&answer, model.charge(token, quota, request), |remain| {
                    let request =
                        charge.get("request_id").cloned().unwrap_or(answer.json()["data"]["request_id"].clone());
                    self.of_token(
                        token,
                        json!({ "charged": quota, "remain_quota": remain, "priced_by": "told", "request_id": request }),
                    )
                });
            }
            (25..45, _) => {
                let request = rng.random_bool(0.6).then(|| rng.random_range(0..80_u32));
                let before = request.and_then(|request| model.records.get(&request));
                let asked = match before {
                    Some(Record::Reserve { asked, .. }) if rng.random_bool(0.8) => *asked,
                    _ => Asked {
                        token,
                        quota,
                        seconds: rng.random_range(1..=90),
                        charge_on_expiry: rng.random_bool(0.3),
                    },
                };
                let key = &self.tokens[asked.token].1;
                let mut body = json!({ "key": key, "quota": asked.quota, "ttl_seconds": asked.seconds });
                if asked.charge_on_expiry {
                    body["on_expiry"] = json!("charge");
                }
                if let Some(request) = request {
                    body["request_id"] = json!(format!("r{request}"));
                }
                let answer = self.post("reserve", body.clone()).await;
                let data = answer.json()["data"].clone();
                let known = self.reservations.len();
                assert_answer(&answer, model.reserve(asked, request), |Reserved { hold, quota, until, remain }| {
                    if hold == known {
                        self.reservations.push(data["reservation_id"].clone());
                    }
                    let request = body.get("request_id").cloned().unwrap_or(data["request_id"].clone());
                    let made = json!({
                        "reservation_id": self.reservations[hold], "expires_at": until, "reserved": quota,
                        "remain_quota": remain, "request_id": request,
                    });
                    self.of_token(asked.token, made)
                });
            }
            (45..50, Some(hold)) => {
                let (total, seconds) = (rng.random_range(0..=120), rng.random_range(1..=90));
                let body = json!({ "reservation_id": self.reservations[hold], "quota": total, "ttl_seconds": seconds });
                let answer = self.post("extend", body).await;
                assert_answer(&answer, model.extend(hold, total, seconds), |(reserved, until, remain)| {
                    json!({
                        "reservation_id": self.reservations[hold], "reserved": reserved, "expires_at": until,
                        "remain_quota": remain,
                    })
                });
            }
            (50..64, Some(hold)) => {
                let again = match model.reserved[hold].state {
                    State::Settled { requested, .. } if rng.random_bool(0.5) => requested,
                    _ => rng.random_range(0..=200),
                };
                let answer =
                    self.post("settle", json!({ "reservation_id": self.reservations[hold], "quota": again })).await;
                assert_answer(&answer, model.settle(hold, again), |(charged, shortfall, expired, remain)| {
                    json!({
                        "charged": charged, "shortfall": shortfall, "expired": expired, "remain_quota": remain,
                        "priced_by": "told",
                    })
                });
            }
            (64..72, Some(hold)) => {
                let answer = self.post("release", json!({ "reservation_id": self.reservations[hold] })).await;
                assert_answer(&answer, model.end(hold, State::Released), |remain| json!({ "remain_quota": remain }));
            }
            (72..80, _) => {
                // At least two seconds, after which caches are not used: the other server changes balances here.
                let seconds = rng.random_range(2..=30);
                self.app.clock.advance(seconds);
                model.advance(seconds);
                expire_on(&self.replica).await;
            }
            (80..86, _) if !model.tokens[token].deleted && !model.wallets[owner].off => {
                let (remain, unlimited) = (rng.random_range(0..=500), rng.random_bool(0.3));
                let edit = json!({ "id": id, "remain_quota": remain, "unlimited_quota": unlimited });
                let shown = self.owners[owner].put("/api/token/", edit).await.ok();
                assert_eq!(shown["used_quota"], model.tokens[token].used);
                (model.tokens[token].remain, model.tokens[token].unlimited) = (remain, unlimited);
            }
            (86..92, _) if !model.tokens[token].deleted => {
                // A disabled token, if there is one, so that none stays disabled for long.
                let is_off = |token: &Token| token.off && !token.deleted;
                let token = model.tokens.iter().position(is_off).unwrap_or(token);
                let off = !model.tokens[token].off && rng.random_bool(0.3);
                let path = format!("/api/admin/tokens/{}/status", self.tokens[token].0);
                let answer = self.root.post(&path, json!({ "status": 1 + u8::from(off) })).await;
                if !off && model.tokens[token].is_exhausted() {
                    answer.refuses_saying(ENABLE_REFUSED.0, ENABLE_REFUSED.1, ENABLE_REFUSED.2);
                } else {
                    answer.ok();
                    model.tokens[token].off = off;
                }
            }
            (92..95, _) => {
                let owner = model.wallets.iter().position(|wallet| wallet.off).unwrap_or(owner);
                let off = !model.wallets[owner].off && rng.random_bool(0.3);
                let path = format!("/api/admin/users/{}", self.owners[owner].id);
                self.root.patch(&path, json!({ "status": 1 + u8::from(off) })).await.ok();
                model.wallets[owner].off = off;
            }
            (95..98, _) => {
                model.wallets[owner].quota = rng.random_range(0..=1_500);
                let path = format!("/api/admin/users/{}/quota", self.owners[owner].id);
                self.root.post(&path, json!({ "set": model.wallets[owner].quota })).await.ok();
            }
            (98.., _) if rng.random_bool(0.15) && !model.wallets[owner].off && !model.tokens[token].deleted => {
                self.owners[owner].delete(&format!("/api/token/{id}")).await.ok();
                model.tokens[token].deleted = true;
            }
            _ => {
                let verified = self.post("verify", json!({ "key": key })).await.ok();
                let (token, wallet) = (&model.tokens[token], &model.wallets[owner]);
                let refusal = match () {
                    () if token.deleted => Some(INVALID_KEY),
                    () if token.off => Some(TOKEN_DISABLED),
                    () if wallet.off => Some(USER_DISABLED),
                    () => token.is_exhausted().then_some(TOKEN_EXHAUSTED),
                };
                assert_eq!(verified["valid"], refusal.is_none());
                assert_eq!(verified["reason"], json!(refusal.map(|(_, reason, _)| reason)));
                if !token.deleted {
                    let usable = if token.unlimited { wallet.quota } else { wallet.quota.min(token.remain) };
                    assert_eq!(
                        (&verified["remain_quota"], &verified["usable_quota"]),
                        (&json!(token.remain), &json!(usable))
                    );
                }
            }
        }
    }

    async fn assert_matches(&self, model: &Model) {
        let tokens: Vec<(i64, i64)> =
            sqlx::query_as("select remain_quota, used_quota from tokens where id = any($1) order by id")
                .bind(self.tokens.iter().map(|(id, _)| *id).collect::<Vec<_>>())
                .fetch_all(&self.app.pool)
                .await
                .unwrap();
        assert_eq!(tokens, model.tokens.iter().map(|token| (token.remain, token.used)).collect::<Vec<_>>());
        let wallets: Vec<(i64, i64, i64)> =
            sqlx::query_as("select quota, used_quota, request_count from users where id = any($1) order by id")
                .bind(self.owners.iter().map(|owner| owner.id).collect::<Vec<_>>())
                .fetch_all(&self.app.pool)
                .await
                .unwrap();
        let expected = model.wallets.iter().map(|wallet| (wallet.quota, wallet.used, wallet.requests));
        assert_eq!(wallets, expected.collect::<Vec<_>>());
    }
}

#[track_caller]
fn assert_answer<T>(answer: &Answer, expected: Result<T, ApiError>, data: impl FnOnce(T) -> Value) {
    match expected {
        Ok(value) => assert_eq!(answer.ok(), data(value)),
        Err((status, error, message)) => answer.refuses_saying(status, error, message),
    }
}

async fn run_random_operations(pool: PgPool, seed: u64) {
    let (mut world, mut model) = World::with_model(pool).await;
    let mut rng = StdRng::seed_from_u64(seed);
    for step in 0..STEPS {
        world.step(&mut rng, &mut model).await;
        if step % 10 == 0 {
            world.assert_matches(&model).await;
        }
    }
    world.assert_matches(&model).await;
    assert_ledger_invariants(&world.app.pool).await;
    let count = |met: fn(&State) -> bool| model.reserved.iter().filter(|hold| met(&hold.state)).count();
    let met = [
        model.records.len() / 10,
        count(|state| matches!(state, State::Settled { shortfall: 1.., .. })),
        count(|state| *state == State::Released),
        count(|state| *state == State::Expired),
        count(|state| *state == State::ChargedOnExpiry),
    ];
    assert!(met.iter().all(|met| *met > 2), "too few operations of a kind: {met:?}");
    model.advance(90);
    world.app.clock.advance(90);
    expire_on(&world.replica).await;
    world.assert_matches(&model).await;
    assert_ledger_invariants(&world.app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_random_operations_match_the_model_with_seed_1(pool: PgPool) {
    run_random_operations(pool, 1).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_random_operations_match_the_model_with_seed_2(pool: PgPool) {
    run_random_operations(pool, 2).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_random_operations_match_the_model_with_seed_3(pool: PgPool) {
    run_random_operations(pool, 3).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_repeated_settlement_gets_the_same_answer(pool: PgPool) {
    let (world, _) = World::with_model(pool).await;
    let (_, key) = world.tokens[0].clone();
    for expired in [false, true] {
        let held = world.post("reserve", json!({ "key": key, "quota": 50, "ttl_seconds": 5 })).await.ok();
        if expired {
            world.app.clock.advance(5);
            expire_on(&world.replica).await;
        }
        let settle = json!({ "reservation_id": held["reservation_id"], "quota": 50 });
        let first = world.post("settle", settle.clone()).await.ok();
        assert_eq!(first["expired"], expired);
        assert_eq!(world.post("settle", settle).await.ok(), first);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_of_a_charge_gets_its_answer_after_the_token_was_deleted(pool: PgPool) {
    let (world, _) = World::with_model(pool).await;
    let (id, key) = &world.tokens[0];
    let charge = json!({ "key": key, "quota": 50, "request_id": "r1" });
    let first = world.post("charge", charge.clone()).await.ok();
    world.root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    assert_eq!(world.post("charge", charge.clone()).await.ok(), first);
    world.owners[0].delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(world.post("charge", charge).await.ok(), first);
}
