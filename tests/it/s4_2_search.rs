//! Specification §4.2, search tokens, with the rules of §8.

use reqwest::Url;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{Answer, Caller, TestApp};

async fn search(who: &Caller, parameters: &[(&str, &str)]) -> Answer {
    let url = Url::parse_with_params("http://keys.test/api/token/search", parameters).unwrap();
    who.get(&format!("{}?{}", url.path(), url.query().unwrap_or_default())).await
}

/// The names of the found tokens, newest first.
async fn found(who: &Caller, parameters: &[(&str, &str)]) -> Vec<String> {
    let data = search(who, parameters).await.ok();
    let items = data["items"].as_array().unwrap();
    assert_eq!(data["total"].as_u64(), u64::try_from(items.len()).ok());
    assert!(items.iter().all(|token| token["key"] == json!("")), "{data}");
    items.iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect()
}

/// Creates tokens with these names and returns their keys.
async fn create_all<const N: usize>(who: &Caller, names: [&str; N]) -> [String; N] {
    let mut keys = Vec::new();
    for name in names {
        keys.push(who.creates_with_key(json!({ "name": name })).await.1);
    }
    keys.try_into().unwrap()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_keyword_finds_names_that_contain_it_in_any_case(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    create_all(&ana, ["Prod One", "my PRODUCT", "Großer Ärger", "журнал ΩΜΕΓΑ"]).await;
    let table: [(&str, &[&str]); 8] = [
        ("prod", &["my PRODUCT", "Prod One"]),
        ("PROD ", &["my PRODUCT", "Prod One"]),
        ("product", &["my PRODUCT"]),
        ("ÄRGER", &["Großer Ärger"]),
        ("ärger", &["Großer Ärger"]),
        ("ЖУРНАЛ", &["журнал ΩΜΕΓΑ"]),
        ("ωμεγ", &["журнал ΩΜΕΓΑ"]),
        ("staging", &[]),
    ];
    for (keyword, expected) in table {
        assert_eq!(found(&ana, &[("keyword", keyword)]).await, expected, "{keyword}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_keyword_with_wildcards_is_a_pattern_for_the_whole_name(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    create_all(&ana, ["prod", "my prod", "prod key", "my prod key"]).await;
    let table: [(&str, &[&str]); 7] = [
        ("prod%", &["prod key", "prod"]),
        ("%prod", &["my prod", "prod"]),
        ("%PROD%", &["my prod key", "prod key", "my prod", "prod"]),
        ("my%key", &["my prod key"]),
        ("%y%d", &["my prod"]),
        ("m%y%", &["my prod key", "my prod"]),
        ("key%", &[]),
    ];
    for (keyword, expected) in table {
        assert_eq!(found(&ana, &[("keyword", keyword)]).await, expected, "{keyword}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_character_but_the_wildcard_is_literal(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    create_all(&ana, ["a_b", "axb", r"a\b", r"a\_b", "a*b", "a'b", "100 % b"]).await;
    let table: [(&str, &[&str]); 8] = [
        ("a_b", &["a_b"]),
        ("__", &[]),
        ("_b", &[r"a\_b", "a_b"]),
        (r"a\b", &[r"a\b"]),
        (r"\\", &[]),
        (r"a\%b", &[r"a\_b", r"a\b"]),
        ("a*b", &["a*b"]),
        ("a'b", &["a'b"]),
    ];
    for (keyword, expected) in table {
        assert_eq!(found(&ana, &[("keyword", keyword)]).await, expected, "{keyword}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_is_found_by_its_whole_key_with_any_number_of_prefixes(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let [one, two] = create_all(&ana, ["one", "two"]).await;
    for sent in [&one, &one[3..], &format!("sk-{one}"), &format!("sk-sk-{one}"), &format!(" {one} ")] {
        assert_eq!(found(&ana, &[("token", sent)]).await, ["one"], "{sent}");
    }
    assert_eq!(found(&ana, &[("token", &two)]).await, ["two"]);
    let past_the_end = search(&ana, &[("token", &one), ("p", "1"), ("size", "5")]).await.ok();
    assert_eq!(past_the_end, json!({ "page": 1, "page_size": 5, "total": 1, "items": [] }));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_is_found_by_a_part_of_its_key(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let [one, _] = create_all(&ana, ["one", "two"]).await;
    let (head, middle, tail) = (&one[..13], &one[15..25], &one[41..]);
    let parts = [
        head.to_owned(),
        head[3..].to_owned(),
        format!("sk-{head}"),
        format!("sk-sk-{head}"),
        middle.to_owned(),
        tail.to_owned(),
        format!("{head}%"),
        format!("sk-{head}%"),
        format!("%{middle}%"),
        format!("%{tail}"),
        format!("{head}%{tail}"),
        format!("{head}%{middle}%"),
    ];
    for part in parts {
        assert_eq!(found(&ana, &[("token", &part)]).await, ["one"], "{part}");
    }
    let other_case: String = middle
        .chars()
        .map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect();
    for other in [format!("{middle}%"), format!("%{middle}"), format!("%{tail}%{head}"), "__".to_owned(), other_case] {
        assert_eq!(found(&ana, &[("token", &other)]).await, [""; 0], "{other}");
    }
    assert_eq!(found(&ana, &[("token", "sk-")]).await, ["two", "one"]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_pattern_for_the_start_of_a_key_may_leave_out_the_prefix(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let [one, _] = create_all(&ana, ["one", "two"]).await;
    for pattern in [format!("{}%", &one[3..13]), format!("{}%{}", &one[3..13], &one[41..])] {
        assert_eq!(found(&ana, &[("token", &pattern)]).await, ["one"], "{pattern}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn keyword_and_token_must_both_match(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let [one, two] = create_all(&ana, ["prod 1", "prod 2"]).await;
    let table: [(&str, &str, &[&str]); 6] = [
        ("PROD", &one, &["prod 1"]),
        ("prod 2", &one, &[]),
        ("prod", &two[10..20], &["prod 2"]),
        ("prod 1", &two[10..20], &[]),
        ("prod%", "sk-", &["prod 2", "prod 1"]),
        ("prod", "", &["prod 2", "prod 1"]),
    ];
    for (keyword, token, expected) in table {
        assert_eq!(found(&ana, &[("keyword", keyword), ("token", token)]).await, expected, "{keyword} {token}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_search_has_pages_like_a_list(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    create_all(&ana, ["no 1", "no 2", "no 3", "no 4", "no 5"]).await;
    let pages: [(&str, &str, &str, i64, &[&str]); 5] = [
        // the page, the parameter for its size, the size, the page in the answer, the names
        ("0", "size", "2", 0, &["no 5", "no 4"]),
        ("2", "size", "2", 2, &["no 1"]),
        ("3", "size", "2", 3, &[]),
        ("1", "page_size", "2", 1, &["no 5", "no 4"]),
        ("3", "ps", "2", 3, &["no 1"]),
    ];
    for (p, by, size, page, expected) in pages {
        for what in [("keyword", "no"), ("keyword", "no%"), ("token", "sk-"), ("token", "sk-%")] {
            let data = search(&ana, &[what, ("p", p), (by, size)]).await.ok();
            let names: Vec<_> = data["items"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
            assert_eq!((&data["page"], &data["page_size"], &data["total"]), (&json!(page), &json!(2), &json!(5)));
            assert_eq!(names, expected, "{what:?} p={p} {by}={size}");
        }
    }
    search(&ana, &[("keyword", "no 1"), ("p", "-1")]).await.refuses_saying(
        400,
        "invalid_page",
        "`p` must be a whole number from 0",
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_empty_search_returns_the_list(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    create_all(&ana, ["one", "two"]).await;
    let list = ana.get("/api/token/").await.json();
    assert_eq!(list["data"]["total"], json!(2));
    for path in ["/api/token/search", "/api/token/search/", "/api/token/search?keyword=&token=&colour=red"] {
        assert_eq!(ana.get(path).await.json(), list, "{path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn other_users_tokens_and_deleted_tokens_are_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben, root) = (app.enabled_user("ana").await, app.enabled_user("ben").await, app.root().await);
    let (id, key) = ana.creates_with_key(json!({ "name": "ana's" })).await;
    let searches = [("keyword", "ana"), ("token", &key), ("token", &key[10..30]), ("token", "sk-")];
    for what in searches {
        assert_eq!(found(&ana, &[what]).await, ["ana's"], "{what:?}");
        assert_eq!(found(&ben, &[what]).await, [""; 0], "{what:?}");
        assert_eq!(found(&root, &[what]).await, [""; 0], "{what:?}");
    }
    ana.delete(&format!("/api/token/{id}")).await.ok();
    for what in searches {
        assert_eq!(found(&ana, &[what]).await, [""; 0], "{what:?}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_search_of_too_few_characters_or_too_many_wildcards_is_refused(pool: PgPool) {
    const TOO_SHORT: &str = "a search needs at least 2 characters beside `%`";
    const TOO_MANY: &str = "a search may contain at most 2 wildcards (`%`)";
    const DOUBLE: &str = "a search may not contain `%%`";
    const CONTROL: &str = "a search may not contain control characters";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let table = [
        ("a", TOO_SHORT),
        ("é", TOO_SHORT),
        ("%", TOO_SHORT),
        ("a%", TOO_SHORT),
        ("%a%", TOO_SHORT),
        ("%a%b%", TOO_MANY),
        ("a%b%c%d", TOO_MANY),
        ("ab%%", DOUBLE),
        ("%%", DOUBLE),
        ("a\0b", CONTROL),
    ];
    for (text, message) in table {
        for by in ["keyword", "token"] {
            search(&ana, &[(by, text)]).await.refuses_saying(400, "invalid_search", message);
        }
        let both = [("keyword", "good"), ("token", text)];
        search(&ana, &both).await.refuses_saying(400, "invalid_search", message);
    }
    for (by, text) in [("keyword", "é1"), ("keyword", "a%b"), ("token", "a%b%"), ("token", "%a%b")] {
        search(&ana, &[(by, text)]).await.ok();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_user_has_ten_searches_per_minute(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "10")]).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let program = ana.by_access_token().await;
    for n in 0..10 {
        let who = if n % 2 == 0 { &ana } else { &program };
        search(who, &[("keyword", "prod")]).await.ok();
    }
    for who in [&ana, &program] {
        let refused = search(who, &[("keyword", "prod")]).await;
        refused.refuses_saying(429, "rate_limited", "too many requests; try again in 6 s");
        assert_eq!(refused.header("retry-after"), Some("6"));
        assert_eq!(refused.header("content-type"), Some("application/json"));
    }
    search(&ben, &[("keyword", "prod")]).await.ok();
    ana.get("/api/token/").await.ok();

    app.clock.advance(6);
    search(&ana, &[("keyword", "prod")]).await.ok();
    search(&ana, &[("keyword", "prod")]).await.refuses(429, "rate_limited");
    app.clock.advance(60);
    for _ in 0..10 {
        search(&ana, &[("keyword", "prod")]).await.ok();
    }
    search(&ana, &[]).await.refuses(429, "rate_limited");
}
