//! A root of its own.
#[path = "it/harness/mod.rs"]
mod harness;
#[path = "it/s2_objects.rs"]
mod s2_objects;
#[path = "it/s3_states.rs"]
mod s3_states;
#[path = "it/s4_1_list.rs"]
mod s4_1_list;
#[path = "it/s4_2_search.rs"]
mod s4_2_search;
#[path = "it/s4_3_get.rs"]
mod s4_3_get;
#[path = "it/s4_4_create.rs"]
mod s4_4_create;
#[path = "it/s4_5_update.rs"]
mod s4_5_update;
#[path = "it/s4_6_delete.rs"]
mod s4_6_delete;
#[path = "it/s4_7_batch.rs"]
mod s4_7_batch;
mod probe {
    use sqlx::PgPool;
    use crate::harness::TestApp;
    #[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
    async fn probe(pool: PgPool) {
        let app = TestApp::new(pool).await;
        let ana = app.enabled_user("ana").await;
        for (method, path, body) in [
            ("POST", "/api/token/", r#"{"name":"a","name":"b"}"#),
            ("POST", "/api/token/", r#"["a"]"#),
            ("POST", "/api/token/", r#"[5]"#),
            ("POST", "/api/token/", r#"{"name":"\ud800"}"#),
            ("POST", "/api/token/", r#"{"name":"x","model_limits":["a",5]}"#),
            ("POST", "/api/token/batch", r#"{"ids":[1,9223372036854775808]}"#),
            ("POST", "/api/token/batch", "[1,2]"),
            ("PUT", "/api/token/", "[1]"),
            ("PUT", "/api/token/?status_only=1", "[1,2]"),
            ("PUT", "/api/token/?status_only=1&status_only=1", "{}"),
            ("POST", "/api/token/", "{\"name\":\"made\",\"expired_time\":1.0}"),
            ("POST", "/api/token/", "{\"name\":\"made\",\"allow_ips\":\"a\\u0000b\"}"),
            ("GET", "/api/token/+1", ""),
            ("GET", "/api/token/search?token=sk-%25", ""),
            ("GET", "/api/token/?p=%2B1", ""),
            ("GET", "/api/token/?p=0&p=1", ""),
            ("GET", "/api/token//", ""),
        ] {
            let mut r = ana.request(method.parse().unwrap(), path);
            *r.body_mut() = body.into();
            let a = ana.send(r).await;
            println!("{method} {path} {body} => {} {}", a.status, a.text);
        }
        for n in [1_048_576usize, 1_048_577, 2_000_000, 3_000_000] {
            let mut r = ana.request(http::Method::POST, "/api/token/");
            *r.body_mut() = format!("{:<n$}", r#"{"name":"made"}"#).into();
            let a = ana.send(r).await;
            println!("{n} => {} {}", a.status, a.text);
        }
    }
}
