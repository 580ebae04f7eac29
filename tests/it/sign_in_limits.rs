//! Wrong passwords are limited by account and network (specification §8): guessing is slow also from many networks, and
//! nobody locks an owner out who signed in before.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use futures_util::future::join_all;
use http::Method;
use keymeter::domain::clock::Clock;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::database::url;
use crate::harness::process::run;
use crate::harness::{Answer, Client, ROOT_PASSWORD, Servers, TestApp};

const DAY: i64 = 86_400;
const HOME: &str = "192.0.2.100";

async fn sign_in(app: &TestApp, username: &str, password: &str, from: &str) -> Answer {
    let caller = app.stranger();
    let mut request = caller.request(Method::POST, "/api/user/login");
    *request.body_mut() = Body::from(json!({ "username": username, "password": password }).to_string());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
    caller.send(request).await
}

async fn with_limit(pool: PgPool, limit: &str) -> TestApp {
    TestApp::with(pool, &[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", limit)]).await
}

/// Gives a wrong password twice from each of these hosts of 192.0.2.0.
async fn guess_twice(app: &TestApp, username: &str, hosts: std::ops::RangeInclusive<u8>) {
    for host in hosts {
        for _ in 0..2 {
            let answer = sign_in(app, username, "a wrong one", &format!("192.0.2.{host}")).await;
            answer.refuses(401, "wrong_credentials");
        }
    }
}

fn is_refused_for(answer: &Answer, seconds: u32) {
    answer.refuses_saying(429, "rate_limited", &format!("too many requests; try again in {seconds} s"));
    assert_eq!(answer.header("retry-after"), Some(seconds.to_string().as_str()));
}

async fn count(pool: &PgPool, of: &str) -> i64 {
    let sql = AssertSqlSafe(format!("select count(*) from {of}"));
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn wrong_passwords_from_one_network_lock_out_that_network_only(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    guess_twice(&app, "root", 1..=1).await;
    for password in ["a wrong one", ROOT_PASSWORD] {
        is_refused_for(&sign_in(&app, "root", password, "192.0.2.1").await, 30);
    }
    sign_in(&app, "root", ROOT_PASSWORD, "192.0.2.2").await.ok();
    // The same in any spelling of the name, and for all addresses of an IPv6 network.
    sign_in(&app, "ROOT ", "a wrong one", "2001:db8:0:7::1").await.refuses(401, "wrong_credentials");
    sign_in(&app, "root", "a wrong one", "2001:db8:0:7::2").await.refuses(401, "wrong_credentials");
    is_refused_for(&sign_in(&app, "root", ROOT_PASSWORD, "2001:db8:0:7:8::3").await, 30);
    app.clock.advance(30);
    sign_in(&app, "root", ROOT_PASSWORD, "192.0.2.1").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn new_networks_share_three_times_as_many_and_never_lock_out_a_known_one(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
    guess_twice(&app, "root", 1..=3).await;
    is_refused_for(&sign_in(&app, "root", ROOT_PASSWORD, "192.0.2.4").await, 10);
    sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
    // The known network has its own attempts, whatever others do.
    guess_twice(&app, "root", 100..=100).await;
    is_refused_for(&sign_in(&app, "root", ROOT_PASSWORD, HOME).await, 30);
    app.clock.advance(30);
    sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_network_is_known_for_90_days_after_the_last_sign_in(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    let is_known = async || {
        guess_twice(&app, "root", 1..=3).await;
        let known = sign_in(&app, "root", ROOT_PASSWORD, HOME).await.status == 200;
        app.clock.advance(60);
        known
    };
    assert!(!is_known().await);
    sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
    for days in [1, 89, 89] {
        app.clock.advance(days * DAY);
        assert!(is_known().await, "{days}");
    }
    app.clock.advance(90 * DAY);
    assert!(!is_known().await);
    // A sign-in to one account does not make the network known at another one.
    let ana = app.user("ana").await;
    sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
    guess_twice(&app, "ana", 1..=3).await;
    is_refused_for(&sign_in(&app, "ana", "ana's password", HOME).await, 10);
    assert_eq!(
        count(&app.pool, &format!("sign_in_networks where user_id = {} and network = '{HOME}'", ana.id)).await,
        0
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn right_passwords_do_not_count_and_unknown_names_count_like_known_ones(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    for _ in 0..3 {
        sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
        sign_in(&app, "root", "a wrong one", HOME).await.refuses(401, "wrong_credentials");
        app.clock.advance(60);
    }
    app.user("ana").await;
    let mut answers = Vec::new();
    for name in ["ana", "nobody"] {
        let mut statuses = Vec::new();
        for host in [1, 1, 1, 2, 2, 2, 3, 3, 4] {
            let answer = sign_in(&app, name, "a wrong one", &format!("192.0.2.{host}")).await;
            statuses.push((answer.status, answer.text));
        }
        answers.push(statuses);
        app.clock.advance(120);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(
        answers[0].iter().map(|(status, _)| status.as_u16()).collect::<Vec<_>>(),
        [401, 401, 429, 401, 401, 429, 401, 401, 429]
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn guesses_at_once_are_counted_like_guesses_one_after_the_other(pool: PgPool) {
    let app = with_limit(pool, "5").await;
    let guess = |n: usize| {
        let app = &app;
        async move { sign_in(app, "root", "a wrong one", &format!("192.0.2.{}", n % 4)).await }
    };
    let answers = join_all((0..40).map(guess)).await;
    let checked = answers.iter().filter(|answer| answer.status == 401).count();
    assert_eq!(checked, 15, "three networks' worth");
    assert!(answers.iter().all(|answer| [401, 429].contains(&answer.status.as_u16())));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_signed_in_user_has_the_same_attempts_for_the_old_password(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    let ana = app.user("ana").await.by_access_token().await;
    let change = |old: &str| json!({ "password": "another password", "original_password": old });
    for _ in 0..2 {
        ana.put("/api/user/self", change("a wrong one")).await.refuses(403, "wrong_password");
    }
    is_refused_for(&ana.put("/api/user/self", change("ana's password")).await, 30);
    app.clock.advance(30);
    ana.put("/api/user/self", change("ana's password")).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_see_accounts_at_which_sign_ins_were_refused_for_a_day(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    let root = app.root().await.by_access_token().await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let locked = async || root.get("/api/admin/locked_accounts").await.ok();
    guess_twice(&app, "ana", 1..=1).await;
    assert_eq!(locked().await, json!([]), "nothing was refused yet");
    sign_in(&app, "ana", "a wrong one", "192.0.2.1").await.refuses(429, "rate_limited");
    let at = app.clock.now().get();
    let entry = |id: i64, name: &str, reason: &str, time: i64| json!({ "user_id": id, "username": name, "reason": reason, "last_time": time });
    assert_eq!(locked().await, json!([entry(ana.id, "ana", "network", at)]));
    app.clock.advance(60);
    for name in ["ben", "nobody"] {
        guess_twice(&app, name, 1..=3).await;
        sign_in(&app, name, "a wrong one", "192.0.2.4").await.refuses(429, "rate_limited");
        app.clock.advance(60);
    }
    let both = [entry(ben.id, "ben", "new_networks", at + 60), entry(ana.id, "ana", "network", at)];
    assert_eq!(locked().await, json!(both));
    app.clock.advance(DAY - 121);
    assert_eq!(locked().await, json!([both[0]]));
    root.delete(&format!("/api/admin/users/{}", ben.id)).await.ok();
    assert_eq!(locked().await, json!([]));
}

#[sqlx::test(migrations = false)]
async fn three_servers_count_together_a_restart_forgets_nothing_and_the_operator_unlocks(pool: PgPool) {
    let settings = [("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "1"), ("KEYMETER_SERVER__TRUSTED_PROXIES", "127.0.0.1/32")];
    let mut servers = Servers::start(&url(&pool), 3, &settings).await;
    let account = json!({ "username": "ana", "password": "ana's password" });
    servers.root.post("/api/admin/users", account).await.ok();
    let from = async |servers: &Servers, server: usize, host: u8, password: &str| {
        let mut client = Client::stranger(&servers.running[server]);
        client.headers.insert("x-forwarded-for", format!("192.0.2.{host}").parse().unwrap());
        client.login("ana", password).await
    };
    from(&servers, 0, 100, "ana's password").await.ok();
    for host in 1..=3 {
        from(&servers, usize::from(host) - 1, host, "a wrong one").await.refuses(401, "wrong_credentials");
    }
    for server in 0..3 {
        from(&servers, server, 4, "ana's password").await.refuses(429, "rate_limited");
    }
    from(&servers, 1, 100, "ana's password").await.ok();
    assert_eq!(servers.running[0].terminate(), Some(0));
    servers.restart().await;
    for server in 0..3 {
        from(&servers, server, 1, "ana's password").await.refuses(429, "rate_limited");
    }

    let dir = tempfile::tempdir().unwrap();
    let environment =
        [("DATABASE_URL", url(&pool)), ("KEYMETER_SECRETS__MASTER_KEY", crate::harness::MASTER_KEY.into())];
    let environment = environment.each_ref().map(|(name, value): &(&str, String)| (*name, value.as_str()));
    let unlock = |name: &str| run(dir.path(), &environment, &["user", "unlock", name]);
    let unknown = unlock("nobody");
    assert_eq!(unknown.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no such user"), "{unknown:?}");
    let unlocked = unlock("Ana");
    assert!(unlocked.status.success(), "{unlocked:?}");
    let said = String::from_utf8_lossy(&unlocked.stderr).into_owned();
    assert!(said.contains("unlocked Ana: wrong passwords until now no longer count"), "{said}");
    from(&servers, 2, 1, "ana's password").await.ok();
    assert_eq!(servers.root.get("/api/admin/locked_accounts").await.ok(), json!([]));
    let lines = servers.root.get("/api/admin/audit?action=user.unlocked").await.ok();
    let unlocked = (&lines["total"], &lines["items"][0]["request_id"], &lines["items"][0]["subject_kind"]);
    assert_eq!(unlocked, (&json!(1), &json!("command line"), &json!("user")));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_is_stored_is_bounded_and_deleted_when_it_is_old(pool: PgPool) {
    let app = with_limit(pool, "2").await;
    let id = app.root().await.id;
    let many = format!(
        "insert into sign_in_networks select {id}, '198.51.100.' || n, {} - n from generate_series(1, 100) as n",
        app.clock.now().get()
    );
    sqlx::query(AssertSqlSafe(many)).execute(&app.pool).await.unwrap();
    sign_in(&app, "root", ROOT_PASSWORD, HOME).await.ok();
    let networks = "sign_in_networks where user_id = 1";
    assert_eq!(count(&app.pool, &networks.replace("= 1", &format!("= {id}"))).await, 100);
    assert_eq!(count(&app.pool, "sign_in_networks where network = '198.51.100.100'").await, 0, "the oldest one");
    assert_eq!(count(&app.pool, &format!("sign_in_networks where network = '{HOME}'")).await, 1);

    guess_twice(&app, "root", 1..=3).await;
    guess_twice(&app, "nobody", 1..=1).await;
    for name in ["root", "nobody"] {
        sign_in(&app, name, "a wrong one", "192.0.2.1").await.refuses(429, "rate_limited");
    }
    let stored: Vec<(String, Option<i64>)> =
        sqlx::query_as("select encode(account, 'escape'), user_id from sign_in_lockouts order by user_id")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    assert_eq!(stored.iter().map(|(_, user)| *user).collect::<Vec<_>>(), [Some(id), None]);
    assert!(stored.iter().all(|(account, _)| !account.contains("nobody")));
    let jobs = crate::jobs::jobs_on(&app.pool, app.clock.clone(), 90);
    let left = async |later: i64| -> Value {
        jobs.run_as_of(app.clock.now().plus(later)).await.unwrap();
        json!([
            count(&app.pool, "sign_in_limits").await,
            count(&app.pool, "sign_in_lockouts").await,
            count(&app.pool, "sign_in_networks").await
        ])
    };
    assert_eq!(left(0).await, json!([6, 2, 100]));
    assert_eq!(left(61).await, json!([0, 2, 100]));
    assert_eq!(left(600).await, json!([0, 1, 100]));
    assert_eq!(left(DAY).await, json!([0, 0, 100]));
    assert_eq!(left(90 * DAY - 1).await[2], json!(1));
    assert_eq!(left(90 * DAY).await[2], json!(0));
}
