//! The floors of `ARCHITECTURE.md`, kept by machine: a floor sees only what is below it.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room, the rooms it may see, and the crates it may not name.
const ROOMS: [(&str, &[&str], &[&str]); 6] = [
    ("domain", &[], &["axum", "tower", "tokio", "moka", "serde_json", "tracing", "http", "utoipa"]),
    ("storage", &["domain"], &["axum", "tower", "moka", "http", "utoipa", "argon2"]),
    (
        "service",
        &["domain", "storage", "telemetry"],
        &["axum", "tower", "tower_http", "tower_sessions", "http", "utoipa", "sqlx"],
    ),
    ("api", &["domain", "service", "storage", "telemetry"], &["sqlx", "argon2", "moka", "clap", "toml"]),
    ("config", &["domain", "telemetry"], &["axum", "sqlx", "tokio"]),
    ("telemetry", &[], &["axum", "sqlx", "tokio"]),
];

/// What `http` may take from `storage`: rows and errors to show, never a query.
const HTTP_FROM_STORAGE: [&str; 4] = ["StorageError", "Db", "sessions::SessionTable", "sessions::USER_ID"];

#[test]
fn a_floor_sees_only_what_is_below_it() {
    let mut wrong = Vec::new();
    for (room, may_see, may_not_name) in ROOMS {
        for (file, text) in files_of(room) {
            for seen in names_after(&text, "crate::") {
                if seen != room && !may_see.contains(&seen.as_str()) {
                    wrong.push(format!("{}: {room} looks at {seen}", file.display()));
                }
            }
            for banned in may_not_name {
                let named = [format!("use {banned}::"), format!(" {banned}::"), format!("({banned}::")];
                if named.iter().any(|spelling| code_of(&text).any(|line| line.contains(spelling.as_str()))) {
                    wrong.push(format!("{}: {room} names the crate {banned}", file.display()));
                }
            }
        }
    }
    // `sqlx::Type` on a newtype is how a column becomes one.
    for (file, text) in files_of("domain") {
        let beyond = code_of(&text).filter(|line| line.contains("sqlx::") && !line.contains("sqlx::Type"));
        wrong.extend(beyond.map(|line| format!("{}: domain uses sqlx beyond derives: {line}", file.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn http_takes_rows_and_errors_from_storage_but_no_queries() {
    let mut wrong = Vec::new();
    for (file, text) in files_of("api") {
        for line in code_of(&text).filter(|line| line.contains("crate::storage")) {
            let named = line.trim().trim_start_matches("use crate::storage::").trim_end_matches(';');
            let parts = named.trim_matches(['{', '}']).split(", ").map(str::to_owned);
            wrong.extend(
                parts
                    .filter(|part| !HTTP_FROM_STORAGE.contains(&part.as_str()))
                    .map(|part| format!("{}: {part}", file.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn columns_of_services_look_only_back() {
    // Each may use those before it.
    let order = ["users", "sign_in", "access_tokens", "enablement", "gateways", "audit", "tokens", "usage"];
    let shared = ["audit_writer", "authenticator", "rng", "rate_limiter", "passwords", "vault"];
    let mut wrong = Vec::new();
    for (at, column) in order.iter().enumerate() {
        let text: String = files_of(&format!("service/{column}")).into_iter().map(|(_, text)| text).collect();
        for seen in names_after(&text, "super::").into_iter().chain(names_after(&text, "crate::service::")) {
            let back = order[..at].contains(&seen.as_str()) || shared.contains(&seen.as_str());
            if order.contains(&seen.as_str()) && !back {
                wrong.push(format!("service/{column}.rs looks at {seen}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_lives_in_it() {
    let silent: Vec<_> =
        all_files(&src()).into_iter().filter(|file| !fs::read_to_string(file).unwrap().starts_with("//!")).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of a room: one, or a folder of them; without their tests.
fn files_of(room: &str) -> Vec<(PathBuf, String)> {
    let file = src().join(format!("{room}.rs"));
    let files = if file.exists() { vec![file] } else { all_files(&src().join(room)) };
    assert!(!files.is_empty(), "there is no room {room}");
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
            (file, text)
        })
        .collect()
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Lines of code, without comments.
fn code_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The first path segments that follow `prefix` in code.
fn names_after(text: &str, prefix: &str) -> Vec<String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    code_of(text)
        .flat_map(|line| line.split(prefix).skip(1).map(name).collect::<Vec<_>>())
        .filter(|name| !name.is_empty())
        .collect()
}
