//! The files of the dashboard: what a browser gets, how long it may cache it, and what a program gets.

use std::path::Path;

use axum::body::Body;
use http::{Method, Request, header};
use sqlx::PgPool;
use tempfile::TempDir;

use crate::harness::database::url;
use crate::harness::process::run;
use crate::harness::{Answer, Caller, MASTER_KEY, TestApp};

const LOGO: &str = "/dashboard-logo";

const INDEX: &str = "<!doctype html><title>Keymeter</title>";

/// A build with a page, a script with a compressed copy, and an icon.
fn built() -> TempDir {
    let dir = TempDir::new().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("index.html", INDEX.as_bytes());
    write("assets/app-1a2b.js", b"plain");
    write("assets/app-1a2b.js.br", b"compressed");
    write("favicon.svg", b"<svg/>");
    dir
}

async fn app(pool: PgPool, dir: &Path) -> Caller {
    TestApp::with(pool, &[("KEYMETER_DASHBOARD__DIR", dir.to_str().unwrap())]).await.stranger()
}

async fn open_page(caller: &Caller, path: &str) -> Answer {
    send(caller, Method::GET, path, &[("accept", "text/html,application/xhtml+xml,*/*;q=0.8")]).await
}

async fn send(caller: &Caller, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request: Request<Body> = caller.request(method, path);
    for (name, value) in headers {
        request.headers_mut().insert(header::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    caller.send(request).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_browser_gets_the_page_at_every_path_and_may_load_nothing_from_other_sites(pool: PgPool) {
    let dir = built();
    let browser = app(pool, dir.path()).await;
    for path in ["/", "/keys", "/keys/7", "/keys/7/", "/admin/audit?user_id=7", "/favicon"] {
        let page = open_page(&browser, path).await;
        assert_eq!((page.status.as_u16(), page.text.as_str()), (200, INDEX), "{path}");
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'self'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe-eval") && !policy.contains("http"), "{policy}");
    }
    let head = send(&browser, Method::HEAD, "/", &[]).await;
    assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn hashed_files_are_cached_forever_and_sent_compressed_to_clients_that_accept_it(pool: PgPool) {
    let dir = built();
    let browser = app(pool, dir.path()).await;
    let plain = send(&browser, Method::GET, "/assets/app-1a2b.js", &[]).await;
    assert_eq!((plain.text.as_str(), plain.header("content-encoding")), ("plain", None));
    assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(plain.header("content-type"), Some("text/javascript"));
    let compressed = send(&browser, Method::GET, "/assets/app-1a2b.js", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!((compressed.text.as_str(), compressed.header("content-encoding")), ("compressed", Some("br")));
    assert_eq!(compressed.header("vary"), Some("accept-encoding"));
    let refused = [("accept-encoding", "br;q=0, gzip")];
    let plain = send(&browser, Method::GET, "/assets/app-1a2b.js", &refused).await;
    assert_eq!((plain.text.as_str(), plain.header("content-encoding")), ("plain", None));
    let icon = send(&browser, Method::GET, "/favicon.svg", &[]).await;
    assert_eq!((icon.text.as_str(), icon.header("cache-control")), ("<svg/>", Some("no-cache")));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_browser_that_has_a_file_is_told_that_it_is_the_same(pool: PgPool) {
    let dir = built();
    let browser = app(pool, dir.path()).await;
    let page = open_page(&browser, "/keys").await;
    let etag = page.header("etag").unwrap();
    for known in [etag.to_owned(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
        let same = send(&browser, Method::GET, "/", &[("if-none-match", &known)]).await;
        assert_eq!((same.status.as_u16(), same.text.as_str()), (304, ""), "{known}");
        assert_eq!((same.header("etag"), same.header("cache-control")), (Some(etag), Some("no-cache")));
    }
    let other = send(&browser, Method::GET, "/", &[("if-none-match", "\"other\"")]).await;
    assert_eq!((other.status.as_u16(), other.text.as_str()), (200, INDEX));
    let compressed = send(&browser, Method::GET, "/assets/app-1a2b.js", &[("accept-encoding", "br")]).await;
    let plain = send(&browser, Method::GET, "/assets/app-1a2b.js", &[]).await;
    assert_ne!(compressed.header("etag"), plain.header("etag"), "each form has a tag of its own");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn paths_that_are_not_pages_are_refused_in_json(pool: PgPool) {
    let dir = built();
    std::fs::write(dir.path().parent().unwrap().join("keymeter-outside.txt"), "outside").unwrap();
    let browser = app(pool, dir.path()).await;
    for path in ["/api/nothing", "/api", "/assets/gone-1a2b.js"] {
        let refused = open_page(&browser, path).await;
        refused.refuses(404, "not_found");
        assert_eq!(refused.header("cache-control"), None, "a missing file is not cached");
    }
    for path in ["/keys", "/nothing", "/%2e%2e/keymeter-outside.txt", "/assets/../../keymeter-outside.txt"] {
        send(&browser, Method::GET, path, &[("accept", "*/*")]).await.refuses(404, "not_found");
    }
    send(&browser, Method::POST, "/keys", &[("accept", "text/html")]).await.refuses(404, "not_found");
    open_page(&browser, "/api/token").await.refuses(401, "not_signed_in");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_logo_in_svg_runs_nothing_and_loads_nothing_wherever_it_is_opened(pool: PgPool) {
    let dir = built();
    let logo = dir.path().join("logo");
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    std::fs::write(&logo, svg).unwrap();
    let settings = [
        ("KEYMETER_DASHBOARD__DIR", dir.path().to_str().unwrap()),
        ("KEYMETER_DASHBOARD__LOGO", logo.to_str().unwrap()),
    ];
    let browser = TestApp::with(pool, &settings).await.stranger();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
    for path in [LOGO, "/dashboard-logo/", "/dashboard-logo?x=1"] {
        let answer = open_page(&browser, path).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, svg), "{path}");
        assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
        assert_eq!(answer.header("content-security-policy"), Some(policy));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
    }
    let etag = open_page(&browser, LOGO).await.header("etag").unwrap().to_owned();
    let same = send(&browser, Method::GET, LOGO, &[("if-none-match", &etag)]).await;
    assert_eq!((same.status.as_u16(), same.text.as_str()), (304, ""));
    assert_eq!(same.header("content-security-policy"), Some(policy));
    send(&browser, Method::POST, LOGO, &[]).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_logo_is_what_its_content_is_and_404_if_there_is_none(pool: PgPool) {
    let dir = TempDir::new().unwrap();
    let logo = dir.path().join("logo.svg");
    std::fs::write(&logo, b"\x89PNG\r\n\x1a\nand so on").unwrap();
    let app = TestApp::with(pool.clone(), &[("KEYMETER_DASHBOARD__LOGO", logo.to_str().unwrap())]).await;
    let head = send(&app.stranger(), Method::HEAD, LOGO, &[("accept-encoding", "gzip")]).await;
    assert_eq!((head.status.as_u16(), head.header("content-type")), (200, Some("image/png")));
    assert_eq!(head.header("content-encoding"), None, "a PNG file is compressed already");
    let build = built();
    open_page(&self::app(pool, build.path()).await, LOGO).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_file_that_cannot_be_the_logo_is_named_at_the_start(pool: PgPool) {
    let dir = TempDir::new().unwrap();
    let (logo, database) = (dir.path().join("logo.png"), url(&pool));
    std::fs::write(&logo, "GIF89a").unwrap();
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
        ("KEYMETER_DASHBOARD__LOGO", logo.to_str().unwrap()),
    ];
    let refused = run(dir.path(), &settings, &["serve"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    let why = format!("{} is neither a PNG nor an SVG file; convert it to one of them", logo.display());
    assert!(said.ends_with(&format!("keymeter: the setting `dashboard.logo` cannot be used: {why}\n")), "{said}");
    assert_eq!(refused.status.code(), Some(1));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn without_a_build_the_page_says_how_to_make_one(pool: PgPool) {
    let empty = TempDir::new().unwrap();
    let browser = app(pool, empty.path()).await;
    let page = open_page(&browser, "/keys").await;
    assert_eq!(page.status.as_u16(), 200);
    assert!(page.text.contains("<code>make dashboard</code>"), "{}", page.text);
    send(&browser, Method::GET, "/keys", &[]).await.refuses(404, "not_found");
}
