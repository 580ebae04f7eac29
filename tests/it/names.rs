//! Usernames are normalised, have no invisible characters and are not confusable with each other. Names of tokens and
//! labels have no invisible characters.

use futures_util::future::join_all;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{Answer, Caller, TestApp};

const USERS: &str = "/api/admin/users";
const CHARACTERS: &str = "`username` may contain letters and digits of one script, and ASCII signs; \
                          no invisible characters, symbols or emoji";
const CONFUSABLE: &str = "this username looks like that of another account; choose a different one";

async fn create_user(root: &Caller, name: &str) -> Answer {
    root.post(USERS, json!({ "username": name, "password": "a password" })).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usernames_in_many_languages_are_accepted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let names = [
        "ann1",
        "annl",
        "annI2",
        "O0",
        "o0o",
        "rnary",
        "mary",
        "ana@example.org",
        "o'neil",
        "José",
        "Jose",
        "Đặng",
        "Вера",
        "Сара",
        "Ольга",
        "Γιώργος",
        "山田太郎",
        "やまだ",
        "김철수",
        "محمد",
        "नेहा",
        "straße",
        "weiß-2",
        "Ana日本",
    ];
    for name in names {
        let created = create_user(&root, name).await;
        assert_eq!(created.ok()["username"], name);
        app.signs_in(name, "a password").await;
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_username_is_the_same_in_every_case_and_normalisation(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    // The accent as a character of its own becomes part of the letter.
    assert_eq!(create_user(&root, "jose\u{301}").await.ok()["username"], "jos\u{e9}");
    assert_eq!(create_user(&root, "ΟΔΥΣΣΕΥΣ").await.ok()["username"], "ΟΔΥΣΣΕΥΣ");
    assert_eq!(create_user(&root, "Strauß").await.ok()["username"], "Strauß");
    let taken = ["jos\u{e9}", "JOSE\u{301}", "οδυσσευσ", "οδυσσευς", "STRAUSS"];
    for name in taken {
        create_user(&root, name).await.refuses_saying(409, "username_taken", "this username is taken");
        app.signs_in(name, "a password").await;
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn invisible_characters_and_mixed_scripts_are_refused(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let root = app.root().await;
    let bad = [
        "ana\u{200b}",
        "\u{200d}ana",
        "a\u{200c}na",
        "ana\u{feff}",
        "a\u{ad}na",
        "a\u{34f}na",
        "ana\u{fe0f}",
        "\u{202e}ana",
        "a\u{2066}na",
        "ana\u{200f}",
        "a\u{61c}na",
        "ana\u{3164}",
        "ana\u{e0041}",
        "ana\u{2060}",
        "\u{301}ana",
        "ana😀",
        "ａｎａ",
        "𝐚𝐧𝐚",
        "ⓐna",
        "ana\u{e000}",
        "ana\u{378}",
        "ana\u{fffd}",
        // Latin with Cyrillic, Latin with Greek, Cyrillic with Greek.
        "pаypal",
        "rοot",
        "жω",
    ];
    for name in bad {
        create_user(&root, name).await.refuses_saying(400, "invalid_username", CHARACTERS);
        let account = json!({ "username": name, "password": "a password" });
        let answer = app.stranger().post("/api/user/register", account).await;
        answer.refuses_saying(400, "invalid_username", CHARACTERS);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_username_confusable_with_another_is_refused(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let root = app.root().await;
    for (first, second) in [("coco", "сосо"), ("Cop", "СОР"), ("ilya", "Іӏуа"), ("1-2", "Ӏ-2"), ("αα", "aa")]
    {
        create_user(&root, first).await.ok();
        create_user(&root, second).await.refuses_saying(409, "username_confusable", CONFUSABLE);
        let account = json!({ "username": second, "password": "a password" });
        let answer = app.stranger().post("/api/user/register", account).await;
        answer.refuses_saying(409, "username_confusable", CONFUSABLE);
    }
    // The same in the other order: the first account keeps its username.
    let sara = create_user(&root, "Сара").await.ok();
    create_user(&root, "Capa").await.refuses_saying(409, "username_confusable", CONFUSABLE);
    // A username confusable with that of a deleted account is free.
    root.delete(&format!("{USERS}/{}", sara["id"])).await.ok();
    create_user(&root, "Capa").await.ok();
    create_user(&root, "Сара").await.refuses_saying(409, "username_confusable", CONFUSABLE);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_of_parallel_confusable_usernames_is_created(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let names = ["coco", "сосо", "COCO", "СОСО", "Coco", "Сосо"];
    let answers = join_all(names.map(|name| create_user(&root, name))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!(answer.status, 409, "{}", answer.text);
    }
    let live: i64 =
        sqlx::query_scalar("select count(*) from users where username <> 'root'").fetch_one(&app.pool).await.unwrap();
    assert_eq!(live, 1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn names_of_tokens_and_labels_have_no_invisible_characters(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let bad = [
        "a\u{202e}b",
        "a\u{2066}b",
        "\u{200b}",
        "a\u{200b}b",
        "\u{200d}",
        "\u{fe0f}a",
        "a\u{3164}",
        "x\u{e0041}",
        "\u{feff}x",
    ];
    for name in bad {
        let message = "`name` contains control or invisible characters";
        ana.post("/api/token/", json!({ "name": name })).await.refuses_saying(400, "invalid_name", message);
        let label = "`display_name` must have at most 100 characters, without control or invisible characters";
        let answer = ana.put("/api/user/self", json!({ "display_name": name })).await;
        answer.refuses_saying(400, "invalid_text", label);
        let label = "`name` must have at most 100 characters, without control or invisible characters";
        let answer = ana.post("/api/user/access_tokens", json!({ "name": name })).await;
        answer.refuses_saying(400, "invalid_text", label);
        let answer = ana.put("/api/user/self", json!({ "email": format!("{name}@example.org") })).await;
        answer.refuses_saying(400, "invalid_email", "`email` is not an e-mail address");
    }
    // Joiners and variation selectors that text needs are kept.
    for name in ["❤\u{fe0f} prod", "👩\u{200d}💻", "می\u{200c}خواهم", "क्\u{200d}ष", "1\u{fe0f}\u{20e3}"]
    {
        assert_eq!(ana.put("/api/user/self", json!({ "display_name": name })).await.ok()["display_name"], name);
        ana.creates(json!({ "name": name })).await;
    }
}
