//! Specification §13.6: reports are made in turn.

use std::time::Duration;

use keymeter::domain::bounds;
use sqlx::PgPool;

use crate::harness::TestApp;
use crate::harness::wait::eventually;

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn reports_of_one_user_wait_in_line_and_leave_connections_to_others(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let (ana, ben, root) = (app.enabled_user("ana").await, app.enabled_user("ben").await, app.root().await);
    let reports = [
        "/api/log/self?model_name=o1",
        "/api/log/self/stat?start_timestamp=1",
        "/api/usage",
        "/api/usage?format=csv",
        "/api/usage/refused_requests",
    ];
    let of_admins = [
        "/api/admin/usage",
        "/api/admin/usage?format=csv",
        "/api/admin/usage/refused_requests",
        "/api/admin/audit?format=csv",
    ];
    let tables = "lock table charges, usage_daily, refused_requests, audit_log in access exclusive mode";
    for (caller, path) in reports.iter().map(|path| (&ana, path)).chain(of_admins.iter().map(|path| (&root, path))) {
        let mut holder = pool.begin().await.unwrap();
        sqlx::raw_sql(tables).execute(&mut *holder).await.unwrap();
        let asked: Vec<_> = (0..40)
            .map(|_| {
                let (caller, path) = (caller.clone(), (*path).to_owned());
                tokio::spawn(async move { caller.get(&path).await })
            })
            .collect();
        // A refusal comes at once, and requests of other users are not delayed.
        let others = async {
            for _ in 0..5 {
                assert_eq!(ben.get("/api/user/self").await.ok()["username"], "ben", "{path}");
            }
            // A report that arrived after one was answered would have a place.
            let refused = || asked.iter().filter(|task| task.is_finished()).count();
            eventually("the others are refused", async || refused() == 40 - bounds::MAX_REPORTS_OF_USER).await;
        };
        tokio::time::timeout(Duration::from_secs(10), others).await.expect("other users are answered");
        holder.rollback().await.unwrap();
        let mut answered = 0;
        for task in asked {
            let answer = task.await.unwrap();
            if answer.status == 200 {
                answered += 1;
            } else {
                let message = "too many of your reports are waiting; ask again when one is answered";
                answer.refuses_saying(429, "reports_busy", message);
                assert_eq!(answer.header("retry-after"), Some("1"));
            }
        }
        assert_eq!(answered, bounds::MAX_REPORTS_OF_USER, "{path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_line_of_all_reports_is_bounded(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let places = bounds::REPORTS_RUNNING + bounds::REPORTS_WAITING;
    let mut users = Vec::new();
    for n in 0..=places / bounds::MAX_REPORTS_OF_USER {
        users.push(app.user(&format!("user{n}")).await);
    }
    let mut holder = pool.begin().await.unwrap();
    sqlx::raw_sql("lock table usage_daily in access exclusive mode").execute(&mut *holder).await.unwrap();
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..=places {
        let user = users[n / bounds::MAX_REPORTS_OF_USER].clone();
        asked.spawn(async move { user.get("/api/usage").await });
    }
    // All wait but one, for which there is no place.
    let answer = tokio::time::timeout(Duration::from_secs(20), asked.join_next()).await.unwrap().unwrap().unwrap();
    answer.refuses_saying(503, "reports_busy", "too many reports are waiting; try again in a moment");
    assert_eq!(answer.header("retry-after"), Some("1"));
    holder.rollback().await.unwrap();
    for answer in asked.join_all().await {
        answer.ok();
    }
    users[0].get("/api/usage").await.ok();
}
