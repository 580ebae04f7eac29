//! A key is rotated again and again while three servers charge by all keys that it ever had, and two of them are
//! killed: each old key works until its deadline, to the second of the database's clock, and nothing is charged twice
//! or lost.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use http::Method;
use serde_json::json;
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Client, Cluster, PLENTY, Servers};

const ROTATIONS: usize = 24;
const CLIENTS: usize = 9;

/// An answered charge: the number of its key, its id, and the database's time in milliseconds after the answer.
struct Answered {
    key: usize,
    id: String,
    is_made: bool,
    after: i64,
}

#[derive(Default)]
struct Load {
    keys: RwLock<Vec<String>>,
    serial: AtomicI64,
    is_over: AtomicBool,
    answered: Mutex<Vec<Answered>>,
}

impl Load {
    async fn run(self: Arc<Self>, pool: PgPool, mut gateways: Vec<Client>) {
        while !self.is_over.load(Ordering::SeqCst) {
            let serial = self.serial.fetch_add(1, Ordering::SeqCst);
            let (key, text) = {
                let keys = self.keys.read().unwrap();
                // The newest four, which are those that may work, most of the time.
                let back =
                    usize::try_from(serial).unwrap() % if serial % 3 == 0 { keys.len() } else { keys.len().min(4) };
                (keys.len() - 1 - back, keys[keys.len() - 1 - back].clone())
            };
            let id = format!("r{serial}");
            let body = json!({ "key": text, "quota": 1, "request_id": id }).to_string();
            // A charge that a killed server did not answer is sent again to another one.
            let answer = loop {
                match gateways[0].try_send(Method::POST, "/api/gateway/charge", body.clone()).await {
                    Ok(answer) => break answer,
                    Err(_) => drop(gateways.remove(0)),
                }
            };
            let is_made = answer.status == 200;
            if !is_made {
                answer.refuses_saying(401, "invalid_key", "this API key is not valid");
            }
            let after = milliseconds(&pool).await;
            self.answered.lock().unwrap().push(Answered { key, id, is_made, after });
        }
    }
}

async fn milliseconds(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select (extract(epoch from clock_timestamp()) * 1000)::bigint").fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l6_rotations_under_load_and_kill_9_end_each_key_at_its_deadline() {
    let cluster = Cluster::start();
    let mut servers = Servers::start(&cluster.url(), 3, &[]).await;
    let ana = servers.owner("ana", PLENTY).await;
    let (id, first) = ana.key(json!({ "name": "one", "remain_quota": PLENTY })).await;
    let pool = servers.pool().await;
    let load = Arc::new(Load::default());
    load.keys.write().unwrap().push(first);
    let gateways = [servers.gateway(0), servers.gateway(1), servers.gateway(2)];
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        // Each begins with another server; the first one is never killed.
        let mut order: Vec<Client> = (0..3).map(|n| gateways[(client + n) % 3].clone()).collect();
        order.push(gateways[0].clone());
        clients.spawn(Arc::clone(&load).run(pool.clone(), order));
    }
    for rotation in 0..ROTATIONS {
        let grace = match rotation % 3 {
            0 => json!({ "grace_seconds": 0, "grace_from": "now" }),
            1 => json!({ "grace_seconds": 1, "grace_from": "now" }),
            _ => json!({ "grace_seconds": 1, "grace_from": "first_use" }),
        };
        let rotated = ana.client.post(&format!("/api/token/{id}/rotate"), grace).await;
        if rotated.status == 409 {
            rotated.refuses(409, "too_many_old_keys");
        } else {
            load.keys.write().unwrap().push(rotated.ok()["key"].as_str().unwrap().to_owned());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
        match rotation {
            8 => servers.running[1].kill(),
            16 => servers.running[2].kill(),
            _ => {}
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    load.is_over.store(true, Ordering::SeqCst);
    clients.join_all().await;

    // A key that ends with its rotation was used until then, in the same second.
    let deadlines: Vec<(i64, i64)> =
        sqlx::query_as("select expires_at, greatest(expires_at, rotated_at + 1) from old_keys order by id")
            .fetch_all(&pool)
            .await
            .unwrap();
    let rows: Vec<(String, i64)> = sqlx::query_as("select request_id, at from charges").fetch_all(&pool).await.unwrap();
    let answered = std::mem::take(&mut *load.answered.lock().unwrap());
    assert_eq!(deadlines.len(), load.keys.read().unwrap().len() - 1);
    let (mut by_old, mut refused) = (0, 0);
    for charge in &answered {
        let made: Vec<i64> = rows.iter().filter(|(id, _)| *id == charge.id).map(|(_, at)| *at).collect();
        assert_eq!(made.len(), usize::from(charge.is_made), "{} of key {}", charge.id, charge.key);
        let Some((deadline, last)) = deadlines.get(charge.key) else {
            assert!(charge.is_made, "the current key is never refused: {}", charge.id);
            continue;
        };
        if charge.is_made {
            assert!(made[0] < *last, "{} at {} by a key that ended at {deadline}", charge.id, made[0]);
            by_old += 1;
        } else {
            // Milliseconds of doubt: a server reads the database's clock from time to time.
            assert!(charge.after + 100 >= deadline * 1_000, "{} was refused before {deadline}", charge.id);
            refused += 1;
        }
    }
    assert!(by_old > 50 && refused > 50, "{by_old} charges by old keys, {refused} refused, of {}", answered.len());
    let used: i64 =
        sqlx::query_scalar("select used_quota from tokens where id = $1").bind(id).fetch_one(&pool).await.unwrap();
    assert_eq!(usize::try_from(used).unwrap(), rows.len());
    assert_ledger_invariants(&pool).await;
    let report = servers.doctor();
    assert!(report.ends_with("no errors found\n"), "{report}");
}
