//! Gateways, as administrators manage them. How their credentials are used is tested in `gateway_credentials.rs`.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::TestApp;

const GATEWAYS: &str = "/api/admin/gateways";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_gateway_credential_is_shown_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let admin = app.admin("carla").await;
    let made = admin.post(GATEWAYS, json!({ "name": "edge" })).await;
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let data = made.ok();
    let credential = data["credential"].as_str().unwrap();
    let list = admin.get(GATEWAYS).await;
    assert!(!list.text.contains(credential), "{}", list.text);
    let mut expected = data.clone();
    expected.as_object_mut().unwrap().remove("credential");
    assert_eq!(list.ok(), json!([expected]));
    let path = format!("{GATEWAYS}/{}", data["id"]);
    admin.delete(&path).await.ok();
    admin.delete(&path).await.refuses_saying(404, "not_found", "there is no such gateway");
    assert_eq!(admin.get(GATEWAYS).await.ok(), json!([]));
    for body in [json!({}), json!({ "name": " " })] {
        admin.post(GATEWAYS, body).await.refuses_saying(400, "missing_field", "`name` is required");
    }
}
