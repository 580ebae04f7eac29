//! Disabled tokens and accounts: only a role at least as high as the one that disabled them can enable them.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, START, TestApp};

const BY_ADMINISTRATOR: (&str, &str) = (
    "switched_off_by_administrator",
    "an administrator disabled this token; only an administrator or root can enable it again",
);
const BY_ROOT: (&str, &str) = ("switched_off_by_root", "root disabled this token; only root can enable it again");
const ACCOUNT_BY_ROOT: (&str, &str) =
    ("account_disabled_by_root", "root disabled this account; only root can enable it again");

/// The owner of the tokens, an administrator and root, in this order.
struct Callers {
    by_role: [Caller; 3],
}

const NAMES: [&str; 3] = ["owner", "administrator", "root"];
const OWNER: usize = 0;
const ADMINISTRATOR: usize = 1;
const ROOT: usize = 2;

impl Callers {
    async fn of(app: &TestApp) -> Self {
        Self { by_role: [app.enabled_user("ana").await, app.admin("carla").await, app.root().await] }
    }

    fn owner(&self) -> &Caller {
        &self.by_role[OWNER]
    }

    /// Sets the status of a token by the call for this role.
    async fn set_status(&self, role: usize, id: i64, status: i64) -> Answer {
        let caller = &self.by_role[role];
        if role == OWNER {
            return caller.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await;
        }
        caller.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": status })).await
    }

    /// The status and `disabled_by` of a token; asserts that all calls that read it agree.
    async fn shown(&self, id: i64) -> (i64, Value) {
        let seen = |token: &Value| (token["status"].as_i64().unwrap(), token["disabled_by"].clone());
        let token = self.owner().get(&format!("/api/token/{id}")).await.ok();
        assert_ne!(token.get("disabled_by"), Some(&json!(null)), "`disabled_by` has a value or is absent");
        for (reader, path) in
            [(OWNER, "/api/token/"), (OWNER, "/api/token/search?keyword=one"), (ROOT, "/api/admin/tokens")]
        {
            let page = self.by_role[reader].get(path).await.ok();
            let listed = page["items"].as_array().unwrap().iter().find(|one| one["id"] == json!(id)).unwrap();
            assert_eq!(seen(listed), seen(&token), "{path}");
        }
        seen(&token)
    }
}

/// The `disabled_by` of a token that this role disabled; null if it is the owner.
fn disabled_by(role: usize) -> Value {
    if role == OWNER { json!(null) } else { json!(NAMES[role]) }
}

#[track_caller]
fn refused(answer: &Answer, (error, message): (&str, &str)) {
    answer.refuses_saying(403, error, message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_a_role_at_least_as_high_can_enable_a_disabled_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let callers = Callers::of(&app).await;
    for off in [OWNER, ADMINISTRATOR, ROOT] {
        for on in [OWNER, ADMINISTRATOR, ROOT] {
            let case = format!("disabled by {}, enabled by {}", NAMES[off], NAMES[on]);
            let id = callers.owner().creates(json!({ "name": "one" })).await;
            let answer = callers.set_status(off, id, 2).await.ok();
            assert_eq!((&answer["status"], &answer["disabled_by"]), (&json!(2), &disabled_by(off)), "{case}");
            assert_eq!(callers.shown(id).await, (2, disabled_by(off)), "{case}");
            let answer = callers.set_status(on, id, 1).await;
            if on >= off {
                assert_eq!(answer.ok()["status"], 1, "{case}");
                assert_eq!(callers.shown(id).await, (1, json!(null)), "{case}");
            } else {
                refused(&answer, if off == ROOT { BY_ROOT } else { BY_ADMINISTRATOR });
                assert_eq!(callers.shown(id).await, (2, disabled_by(off)), "{case}");
            }
            callers.owner().delete(&format!("/api/token/{id}")).await.ok();
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn disabling_again_raises_disabled_by_and_never_lowers_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let callers = Callers::of(&app).await;
    for first in [OWNER, ADMINISTRATOR, ROOT] {
        for second in [OWNER, ADMINISTRATOR, ROOT] {
            let id = callers.owner().creates(json!({ "name": "one" })).await;
            callers.set_status(first, id, 2).await.ok();
            let higher = disabled_by(first.max(second));
            assert_eq!(callers.set_status(second, id, 2).await.ok()["disabled_by"], higher);
            assert_eq!(callers.shown(id).await, (2, higher));
            callers.owner().delete(&format!("/api/token/{id}")).await.ok();
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_owner_can_edit_and_delete_but_not_enable_a_token_that_an_administrator_disabled(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let callers = Callers::of(&app).await;
    let ana = callers.owner();
    let id = ana.creates(json!({ "name": "one", "expired_time": START - 60 })).await;
    callers.set_status(ADMINISTRATOR, id, 2).await.ok();
    refused(&callers.set_status(OWNER, id, 1).await, BY_ADMINISTRATOR);
    let edited = ana.put("/api/token/", json!({ "id": id, "expired_time": -1, "remain_quota": 9, "status": 1 })).await;
    assert_eq!((&edited.ok()["status"], &edited.ok()["remain_quota"]), (&json!(2), &json!(9)));
    refused(&callers.set_status(OWNER, id, 1).await, BY_ADMINISTRATOR);
    assert_eq!(callers.shown(id).await, (2, json!("administrator")));
    ana.delete(&format!("/api/token/{id}")).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_role_at_the_time_counts_also_for_ones_own_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, carla) = (app.root().await, app.admin("carla").await);
    let id = carla.creates(json!({ "name": "one" })).await;
    let own = async |status: i64| carla.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await;
    assert_eq!(own(2).await.ok()["disabled_by"], "administrator");
    own(1).await.ok();
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    refused(&own(1).await, BY_ROOT);
    let by_admin_call = carla.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 1 })).await;
    refused(&by_admin_call, BY_ROOT);
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 1 })).await.ok();
    own(2).await.ok();
    root.patch(&format!("/api/admin/users/{}", carla.id), json!({ "role": 1, "token_api_enabled": true })).await.ok();
    refused(&own(1).await, BY_ADMINISTRATOR);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_root_enables_an_account_that_root_disabled(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, carla, ana) = (app.root().await, app.admin("carla").await, app.user("ana").await);
    let path = format!("/api/admin/users/{}", ana.id);
    let set_status = async |who: &Caller, status: i64| who.patch(&path, json!({ "status": status })).await;
    let listed = async || {
        let users = root.get("/api/admin/users?keyword=ana").await.ok();
        (users["items"][0]["status"].clone(), users["items"][0]["disabled_by"].clone())
    };
    let cases = [
        // who disables, one after the other; `disabled_by` then; true if an administrator may enable it
        (vec![&carla], "administrator", true),
        (vec![&carla, &carla], "administrator", true),
        (vec![&root], "root", false),
        (vec![&root, &carla], "root", false),
        (vec![&carla, &root], "root", false),
    ];
    for (disabling, word, may) in cases {
        for who in disabling {
            set_status(who, 2).await.ok();
        }
        assert_eq!(listed().await, (json!(2), json!(word)));
        let answer = set_status(&carla, 1).await;
        if may {
            assert_eq!((&answer.ok()["status"], &answer.ok()["disabled_by"]), (&json!(1), &json!(null)));
        } else {
            refused(&answer, ACCOUNT_BY_ROOT);
            let all = json!({ "status": 1, "display_name": "not so", "password": "not this one" });
            refused(&carla.patch(&path, all).await, ACCOUNT_BY_ROOT);
            assert_eq!(listed().await, (json!(2), json!(word)), "nothing was changed");
            assert_eq!(carla.patch(&path, json!({ "display_name": "Ana" })).await.ok()["display_name"], "Ana");
            set_status(&root, 1).await.ok();
        }
        assert_eq!(listed().await, (json!(1), json!(null)));
        app.signs_in("ana", "ana's password").await.get("/api/user/self").await.ok();
    }
}
