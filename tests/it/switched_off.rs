//! Who may switch on what somebody switched off: nobody below whoever did it, of tokens and of accounts.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, START, TestApp};

const BY_ADMINISTRATOR: (&str, &str) = (
    "switched_off_by_administrator",
    "an administrator switched this token off; only an administrator or root can switch it on again",
);
const BY_ROOT: (&str, &str) =
    ("switched_off_by_root", "root switched this token off; only root can switch it on again");
const ACCOUNT_BY_ROOT: (&str, &str) =
    ("account_disabled_by_root", "root disabled this account; only root can enable it again");

/// The owner of tokens, an administrator and root, the lowest first.
struct Cast {
    people: [Caller; 3],
}

const NAMES: [&str; 3] = ["owner", "administrator", "root"];
const OWNER: usize = 0;
const ADMINISTRATOR: usize = 1;
const ROOT: usize = 2;

impl Cast {
    async fn of(app: &TestApp) -> Self {
        Self { people: [app.enabled_user("ana").await, app.admin("carla").await, app.root().await] }
    }

    fn owner(&self) -> &Caller {
        &self.people[OWNER]
    }

    /// Switches a token by the call that the person has for it.
    async fn switches(&self, who: usize, id: i64, status: i64) -> Answer {
        let person = &self.people[who];
        if who == OWNER {
            return person.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await;
        }
        person.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": status })).await
    }

    /// The token's status and who disabled it, on which all ways of reading agree.
    async fn shown(&self, id: i64) -> (i64, Value) {
        let seen = |token: &Value| (token["status"].as_i64().unwrap(), token["disabled_by"].clone());
        let token = self.owner().get(&format!("/api/token/{id}")).await.ok();
        assert_ne!(token.get("disabled_by"), Some(&json!(null)), "it is told or absent");
        for (reader, path) in
            [(OWNER, "/api/token/"), (OWNER, "/api/token/search?keyword=one"), (ROOT, "/api/admin/tokens")]
        {
            let page = self.people[reader].get(path).await.ok();
            let listed = page["items"].as_array().unwrap().iter().find(|one| one["id"] == json!(id)).unwrap();
            assert_eq!(seen(listed), seen(&token), "{path}");
        }
        seen(&token)
    }
}

/// How a token tells who switched it off: not at all where it was the owner.
fn told(who: usize) -> Value {
    if who == OWNER { json!(null) } else { json!(NAMES[who]) }
}

#[track_caller]
fn refused(answer: &Answer, (error, message): (&str, &str)) {
    answer.refuses_saying(403, error, message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_is_switched_on_by_nobody_below_whoever_switched_it_off(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let cast = Cast::of(&app).await;
    for off in [OWNER, ADMINISTRATOR, ROOT] {
        for on in [OWNER, ADMINISTRATOR, ROOT] {
            let case = format!("off by {}, on by {}", NAMES[off], NAMES[on]);
            let id = cast.owner().creates(json!({ "name": "one" })).await;
            let answer = cast.switches(off, id, 2).await.ok();
            assert_eq!((&answer["status"], &answer["disabled_by"]), (&json!(2), &told(off)), "{case}");
            assert_eq!(cast.shown(id).await, (2, told(off)), "{case}");
            let answer = cast.switches(on, id, 1).await;
            if on >= off {
                assert_eq!(answer.ok()["status"], 1, "{case}");
                assert_eq!(cast.shown(id).await, (1, json!(null)), "{case}");
            } else {
                refused(&answer, if off == ROOT { BY_ROOT } else { BY_ADMINISTRATOR });
                assert_eq!(cast.shown(id).await, (2, told(off)), "{case}");
            }
            cast.owner().delete(&format!("/api/token/{id}")).await.ok();
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn switching_off_again_raises_the_mark_and_never_lowers_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let cast = Cast::of(&app).await;
    for first in [OWNER, ADMINISTRATOR, ROOT] {
        for second in [OWNER, ADMINISTRATOR, ROOT] {
            let id = cast.owner().creates(json!({ "name": "one" })).await;
            cast.switches(first, id, 2).await.ok();
            let higher = told(first.max(second));
            assert_eq!(cast.switches(second, id, 2).await.ok()["disabled_by"], higher);
            assert_eq!(cast.shown(id).await, (2, higher));
            cast.owner().delete(&format!("/api/token/{id}")).await.ok();
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_owner_edits_and_deletes_what_an_administrator_switched_off_but_it_stays_off(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let cast = Cast::of(&app).await;
    let ana = cast.owner();
    let id = ana.creates(json!({ "name": "one", "expired_time": START - 60 })).await;
    cast.switches(ADMINISTRATOR, id, 2).await.ok();
    refused(&cast.switches(OWNER, id, 1).await, BY_ADMINISTRATOR);
    let edited = ana.put("/api/token/", json!({ "id": id, "expired_time": -1, "remain_quota": 9, "status": 1 })).await;
    assert_eq!((&edited.ok()["status"], &edited.ok()["remain_quota"]), (&json!(2), &json!(9)));
    refused(&cast.switches(OWNER, id, 1).await, BY_ADMINISTRATOR);
    assert_eq!(cast.shown(id).await, (2, json!("administrator")));
    ana.delete(&format!("/api/token/{id}")).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_role_at_the_time_counts_also_on_ones_own_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, carla) = (app.root().await, app.admin("carla").await);
    let id = carla.creates(json!({ "name": "one" })).await;
    let own = async |status: i64| carla.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await;
    assert_eq!(own(2).await.ok()["disabled_by"], "administrator");
    own(1).await.ok();
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    refused(&own(1).await, BY_ROOT);
    let by_the_other_call = carla.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 1 })).await;
    refused(&by_the_other_call, BY_ROOT);
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 1 })).await.ok();
    own(2).await.ok();
    root.patch(&format!("/api/admin/users/{}", carla.id), json!({ "role": 1, "token_api_enabled": true })).await.ok();
    refused(&own(1).await, BY_ADMINISTRATOR);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_account_that_root_disabled_is_enabled_by_root_alone(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, carla, ana) = (app.root().await, app.admin("carla").await, app.user("ana").await);
    let path = format!("/api/admin/users/{}", ana.id);
    let sets = async |who: &Caller, status: i64| who.patch(&path, json!({ "status": status })).await;
    let listed = async || {
        let users = root.get("/api/admin/users?keyword=ana").await.ok();
        (users["items"][0]["status"].clone(), users["items"][0]["disabled_by"].clone())
    };
    let cases = [
        // who disables, one after the other; what is told then; whether an administrator may enable it
        (vec![&carla], "administrator", true),
        (vec![&carla, &carla], "administrator", true),
        (vec![&root], "root", false),
        (vec![&root, &carla], "root", false),
        (vec![&carla, &root], "root", false),
    ];
    for (disabling, word, may) in cases {
        for who in disabling {
            sets(who, 2).await.ok();
        }
        assert_eq!(listed().await, (json!(2), json!(word)));
        let answer = sets(&carla, 1).await;
        if may {
            assert_eq!((&answer.ok()["status"], &answer.ok()["disabled_by"]), (&json!(1), &json!(null)));
        } else {
            refused(&answer, ACCOUNT_BY_ROOT);
            let all = json!({ "status": 1, "display_name": "not so", "password": "not this one" });
            refused(&carla.patch(&path, all).await, ACCOUNT_BY_ROOT);
            assert_eq!(listed().await, (json!(2), json!(word)), "nothing of it was done");
            assert_eq!(carla.patch(&path, json!({ "display_name": "Ana" })).await.ok()["display_name"], "Ana");
            sets(&root, 1).await.ok();
        }
        assert_eq!(listed().await, (json!(1), json!(null)));
        app.signs_in("ana", "ana's password").await.get("/api/user/self").await.ok();
    }
}
