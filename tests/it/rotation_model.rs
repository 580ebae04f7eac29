//! Random sequences of rotations and of everything else that happens to a token, by all of its keys on three servers
//! that hear nothing of each other, compared with a small model: a key works until its deadline and no longer, and the
//! balance is one.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{
    INVALID_KEY, TOKEN_DISABLED, TOKEN_SHORT, app_with_wallet, asks, edits, refused, settles,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, START, TestApp};

const STEPS: usize = 500;
const LATEST_START: i64 = 30 * 86_400;

/// A key of the token, and until when it works.
struct Key {
    text: String,
    /// The id of an old key; `None` for the current one.
    id: Option<i64>,
    deadline: i64,
    /// The grace period that has not begun.
    waits: Option<i64>,
}

struct World {
    servers: Vec<TestApp>,
    gateways: Vec<Caller>,
    owner: Caller,
    token: i64,
    now: i64,
    keys: Vec<Key>,
    remain: i64,
    used: i64,
    is_disabled: bool,
    holds: Vec<(Value, i64)>,
    /// How often each kind of answer was seen: by the current key, by an old one, by an ended one; rotations that were
    /// refused.
    seen: [usize; 4],
}

impl World {
    async fn new(pool: PgPool) -> Self {
        let (app, owner, gateway) = app_with_wallet(pool, 1_000_000).await;
        // A session would end before the last grace period.
        let owner = owner.by_access_token().await;
        let (token, text) = owner.creates_with_key(json!({ "name": "one", "remain_quota": 5_000 })).await;
        let others = [app.server_ahead(0), app.server_ahead(1)];
        others[1].clock.advance(-1);
        let gateways = vec![gateway.clone(), gateway.at(&others[0]), gateway.at(&others[1])];
        let [second, third] = others;
        Self {
            servers: vec![app, second, third],
            gateways,
            owner,
            token,
            now: START,
            keys: vec![Key { text, id: None, deadline: i64::MAX, waits: None }],
            remain: 5_000,
            used: 0,
            is_disabled: false,
            holds: Vec::new(),
            seen: [0; 4],
        }
    }

    fn advance(&mut self, seconds: i64) {
        self.now += seconds;
        self.servers.iter().for_each(|server| server.clock.advance(seconds));
    }

    /// A newer key was used: the grace periods of those before it begin.
    fn use_key(&mut self, at: usize) {
        let now = self.now;
        for key in &mut self.keys[..at] {
            if let Some(grace) = key.waits.take() {
                key.deadline = key.deadline.min(now + grace);
            }
        }
    }

    fn is_live(&self, at: usize) -> bool {
        self.now < self.keys[at].deadline
    }

    async fn step(&mut self, rng: &mut StdRng) {
        let at = if rng.random_bool(0.4) { self.keys.len() - 1 } else { rng.random_range(0..self.keys.len()) };
        let gateway = self.gateways[rng.random_range(0..3)].clone();
        match rng.random_range(0..100) {
            0..12 => self.rotate(rng).await,
            12..60 => {
                let quota = rng.random_range(0..=40);
                let call = if rng.random_bool(0.7) { "charge" } else { "reserve" };
                let answer = asks(&gateway, call, &json!({ "key": self.keys[at].text, "quota": quota })).await;
                self.assert_taken(at, quota, &answer);
                if call == "reserve" && answer.status == 200 {
                    self.holds.push((answer.ok()["reservation_id"].clone(), quota));
                }
            }
            60..70 => self.settle(rng, &gateway).await,
            70..78 => {
                // No cached key of another server is as old as this.
                self.advance(2);
                let verified = asks(&gateway, "verify", &json!({ "key": self.keys[at].text })).await.ok();
                let is_usable = self.is_live(at) && !self.is_disabled && self.remain > 0;
                assert_eq!(verified["valid"], json!(is_usable), "{verified}");
                if is_usable {
                    self.use_key(at);
                    self.wait_until_begun(at).await;
                }
            }
            78..84 => self.end(rng).await,
            84..88 => {
                self.is_disabled = !self.is_disabled && rng.random_bool(0.4);
                let status = 1 + i64::from(self.is_disabled);
                if self.is_disabled || self.remain > 0 {
                    let body = json!({ "id": self.token, "status": status });
                    self.owner.put("/api/token/?status_only=1", body).await.ok();
                } else {
                    self.is_disabled = true;
                    let body = json!({ "id": self.token, "status": 2 });
                    self.owner.put("/api/token/?status_only=1", body).await.ok();
                }
            }
            88..92 => {
                let added = rng.random_range(0..=500);
                edits(&self.owner, self.token, json!({ "add_quota": added })).await;
                self.remain += added;
            }
            92..98 => self.advance(rng.random_range(1..=40)),
            _ => self.advance(rng.random_range(1..=LATEST_START / 3)),
        }
    }

    /// Checks the answer of a charge or a reservation, and takes its quota.
    fn assert_taken(&mut self, at: usize, quota: i64, answer: &Answer) {
        let is_current = at == self.keys.len() - 1;
        match () {
            () if !self.is_live(at) => {
                refused(answer, INVALID_KEY);
                self.seen[2] += 1;
            }
            () if self.is_disabled => refused(answer, TOKEN_DISABLED),
            () if self.remain == 0 => assert_eq!(answer.status, 402),
            () if self.remain < quota => refused(answer, TOKEN_SHORT),
            () => {
                assert_eq!(answer.ok()["remain_quota"], json!(self.remain - quota));
                (self.remain, self.used) = (self.remain - quota, self.used + quota);
                self.use_key(at);
                self.seen[usize::from(!is_current)] += 1;
            }
        }
    }

    async fn rotate(&mut self, rng: &mut StdRng) {
        let (seconds, from) = (rng.random_range(0..=120), ["now", "first_use"][usize::from(rng.random_bool(0.5))]);
        let live = (0..self.keys.len() - 1).filter(|at| self.is_live(*at)).count();
        let body = json!({ "grace_seconds": seconds, "grace_from": from });
        let answer = self.owner.post(&format!("/api/token/{}/rotate", self.token), body).await;
        if live >= 3 && !(seconds == 0 && from == "now") {
            answer.refuses(409, "too_many_old_keys");
            self.seen[3] += 1;
            return;
        }
        let rotated = answer.ok();
        let now = self.now;
        let replaced = self.keys.last_mut().unwrap();
        (replaced.deadline, replaced.waits) =
            if from == "now" { (now + seconds, None) } else { (now + LATEST_START + seconds, Some(seconds)) };
        let text = rotated["key"].as_str().unwrap().to_owned();
        self.keys.push(Key { text, id: None, deadline: i64::MAX, waits: None });
        let listed = rotated["old_keys"].as_array().unwrap();
        let live: Vec<usize> = (0..self.keys.len() - 1).rev().filter(|at| self.is_live(*at)).collect();
        assert_eq!(listed.len(), live.len());
        for (old, at) in listed.iter().zip(live) {
            let key = &mut self.keys[at];
            key.id = old["id"].as_i64();
            assert_eq!(old["expires_at"].as_i64(), key.waits.is_none().then_some(key.deadline), "{old}");
        }
    }

    async fn end(&mut self, rng: &mut StdRng) {
        let at = rng.random_range(0..self.keys.len());
        let Some(id) = self.keys[at].id else {
            return;
        };
        let answer = self.owner.delete(&format!("/api/token/{}/old_keys/{id}", self.token)).await;
        if self.is_live(at) {
            answer.ok();
            (self.keys[at].deadline, self.keys[at].waits) = (self.now, None);
        } else {
            answer.refuses(404, "not_found");
        }
    }

    async fn settle(&mut self, rng: &mut StdRng, gateway: &Caller) {
        if self.holds.is_empty() {
            return;
        }
        let (hold, held) = self.holds.swap_remove(rng.random_range(0..self.holds.len()));
        let cost = rng.random_range(0..=held);
        // Holds end after ten minutes; the job that gives them back does not run here.
        settles(gateway, &hold, cost).await.ok();
        (self.remain, self.used) = (self.remain + held - cost, self.used - held + cost);
    }

    /// Waits until the batch that verify queued has begun the grace periods of the keys before `at`.
    async fn wait_until_begun(&self, at: usize) {
        let waiting = "select count(*) from old_keys where waits_for_use and ($1::bigint is null or id < $1)";
        loop {
            let waiting: i64 =
                sqlx::query_scalar(waiting).bind(self.keys[at].id).fetch_one(&self.servers[0].pool).await.unwrap();
            if waiting == 0 {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

async fn run(pool: PgPool, seed: u64) {
    let mut world = World::new(pool).await;
    let mut rng = StdRng::seed_from_u64(seed);
    for _ in 0..STEPS {
        world.step(&mut rng).await;
    }
    let balances: (i64, i64) = sqlx::query_as("select remain_quota, used_quota from tokens where id = $1")
        .bind(world.token)
        .fetch_one(&world.servers[0].pool)
        .await
        .unwrap();
    assert_eq!(balances, (world.remain, world.used));
    assert_ledger_invariants(&world.servers[0].pool).await;
    assert!(world.seen.iter().all(|seen| *seen > 0), "too few of a kind: {:?}", world.seen);
    // Retired with its token, whatever is left of their time.
    world.owner.delete(&format!("/api/token/{}", world.token)).await.ok();
    for key in &world.keys {
        for gateway in &world.gateways {
            refused(&asks(gateway, "charge", &json!({ "key": key.text, "quota": 0 })).await, INVALID_KEY);
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_random_rotations_match_the_model_with_seed_1(pool: PgPool) {
    run(pool, 1).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_random_rotations_match_the_model_with_seed_2(pool: PgPool) {
    run(pool, 2).await;
}
