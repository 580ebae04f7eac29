//! The command line (specification §12): what each command does, and its refusals.

use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::client::access_token_of_root;
use crate::harness::database::{contents, empty, url};
use crate::harness::process::{free_port, keymeter, run};
use crate::harness::raw::send_head;
use crate::harness::wait::eventually;
use crate::harness::{Client, MASTER_KEY, Server};

const OTHER_KEY: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";
const INVALID_MASTER_KEY: &str = "the master key must be 64 hexadecimal digits; create one with: openssl rand -hex 32";

/// The message of a refusal with the exit code 1.
#[track_caller]
fn refusal(output: &Output) -> String {
    refusal_with(1, output)
}

/// The message of a refusal: nothing on standard output, one line on standard error, below the one that says where
/// `user` and `gateway` act.
#[track_caller]
fn refusal_with(code: i32, output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    let stderr = stderr.strip_prefix("keymeter: on the local database\n").unwrap_or(&stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    let sentence = stderr.strip_prefix("keymeter: ").and_then(|rest| rest.strip_suffix('\n'));
    sentence.filter(|line| !line.contains('\n')).unwrap_or_else(|| panic!("not one line: {stderr}")).to_owned()
}

/// The output of a command that must succeed.
#[track_caller]
fn stdout_of(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The findings of `keymeter doctor`, which must have some.
#[track_caller]
fn doctor_findings(output: &Output) -> Vec<String> {
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8(output.stdout.clone()).unwrap();
    report.lines().filter_map(|line| line.strip_prefix("WRONG  ")).map(str::to_owned).collect()
}

/// Runs a command line with this standard input.
fn run_with_input(dir: &Path, settings: &[(&str, &str)], arguments: &[&str], input: &str) -> Output {
    use std::io::Write;
    let mut command = keymeter(dir, settings);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

#[test]
fn the_program_says_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let said = stdout_of(&run(dir.path(), &[], &["--version"]));
    let version = option_env!("KEYMETER_VERSION").unwrap_or(env!("CARGO_PKG_VERSION"));
    assert_eq!(said.trim_end(), format!("keymeter {version}"));
}

#[tokio::test]
async fn the_printed_openapi_document_is_the_served_one() {
    let dir = tempfile::tempdir().unwrap();
    let printed: Value = serde_json::from_str(&stdout_of(&run(dir.path(), &[], &["openapi"]))).unwrap();
    assert!(printed["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
    assert!(printed["paths"]["/api/token/"]["get"].is_object());
    assert!(!dir.path().join("data").exists());
    let server = Server::start(dir.path(), &[]).await;
    let answer = Client::stranger(&server).get("/api/openapi.json").await;
    assert_eq!((answer.json(), answer.header("content-type")), (printed, Some("application/json")));
}

#[test]
fn settings_prints_every_setting_with_its_default() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(stdout_of(&run(dir.path(), &[], &["settings"])), include_str!("../../config/default.toml"));
}

#[test]
fn an_invalid_setting_in_the_environment_is_named() {
    let unknown = "unknown setting KEYMETER_LIMITS__SERCH; config/default.toml lists all settings";
    for (name, value, sentence) in [
        ("KEYMETER_LIMITS__SERCH", "1", unknown),
        (
            "KEYMETER_LIMITS__SEARCH_PER_MINUTE",
            "ten",
            "the setting KEYMETER_LIMITS__SEARCH_PER_MINUTE cannot be used: it must be a whole number",
        ),
        (
            "KEYMETER_USAGE__TIME_ZONE",
            "Mars",
            "the setting usage.time_zone cannot be used: \"Mars\" is not a time zone, such as \"Europe/Berlin\"",
        ),
        (
            "DATABASE_URL",
            "a secret that is no address",
            "the setting `database.url` cannot be used: it is not postgres://user:password@host:port/name",
        ),
        (
            "DATABASE_URL",
            "mysql://ana:secret@127.0.0.1/keymeter",
            "the setting `database.url` cannot be used: it begins with `mysql://`, and Keymeter needs PostgreSQL: \
             postgres://user:password@host:port/name",
        ),
        (
            "KEYMETER_DATABASE_URL",
            "postgres://127.0.0.1/keymeter",
            "unknown setting KEYMETER_DATABASE_URL; the nearest is KEYMETER_DATABASE__URL, or DATABASE_URL; \
             config/default.toml lists all settings",
        ),
        ("KEYMETER_PORT", "3000", "unknown setting KEYMETER_PORT; config/default.toml lists all settings"),
    ] {
        for command in ["serve", "migrate", "doctor"] {
            let dir = tempfile::tempdir().unwrap();
            let refused = run(dir.path(), &[(name, value)], &[command]);
            if command == "doctor" && name == "DATABASE_URL" {
                assert_eq!(doctor_findings(&refused), [format!("database: {sentence}")]);
            } else {
                assert_eq!(refusal(&refused), sentence);
            }
            assert!(!dir.path().join("data").exists(), "{name} {command}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let refused = refusal(&run(dir.path(), &[("KEYMETER_LOG__OTLP_ENDPOINT", "http://127.0.0.1:4318")], &["serve"]));
    assert_eq!(refused, "`log.otlp_endpoint` needs a program that was built with `--features otlp`; this one was not");
    let refused = refusal(&run(dir.path(), &[("KEYMETER_LOG__FILTER", "keymeter=loud")], &["serve"]));
    assert!(refused.starts_with("`log.filter` cannot be read: ") && refused.ends_with("; try \"info\""), "{refused}");
}

/// Kubernetes sets them for a Service that is called keymeter, and other programs set what they like.
#[test]
fn variables_of_others_are_ignored_and_one_of_ours_that_is_not_utf_8_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let not_utf_8 = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let mut command = keymeter(dir.path(), &[("KEYMETER_PORT", "tcp://10.96.0.7:3000")]);
    command.envs([("KEYMETER_SERVICE_HOST", "10.96.0.7"), ("KEYMETER_PORT_3000_TCP_ADDR", "10.96.0.7")]);
    let doctor = command.env("SOMETHING", not_utf_8).arg("doctor").output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.contains("there is none in "), "{said}");
    let command = &mut keymeter(dir.path(), &[]);
    let refused = command.env("KEYMETER_HTTP__PUBLIC_URL", not_utf_8).arg("serve").output().unwrap();
    assert_eq!(refusal(&refused), "the setting KEYMETER_HTTP__PUBLIC_URL cannot be used: its value is not UTF-8");
}

#[test]
fn commands_about_data_are_refused_where_there_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let backup = dir.path().join("backup");
    for arguments in [&["backup", backup.to_str().unwrap()][..], &["psql", "--command", "select 1"]] {
        let sentence = "set KEYMETER_DATA_DIR to the directory that has them, or DATABASE_URL";
        let refused = refusal_with(2, &run(dir.path(), &[], arguments));
        assert_eq!(refused, format!("there are no data in {}; {sentence}", data.display()));
        assert!(!data.exists() && !backup.exists(), "{arguments:?}");
    }
}

#[test]
fn an_invalid_settings_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my.toml");
    let path = file.to_str().unwrap();
    let refused = || refusal(&run(dir.path(), &[], &["--config", path, "serve"]));
    assert_eq!(refused(), format!("cannot read the settings file {path}: No such file or directory (os error 2)"));
    for (text, sentence) in [
        ("[server]\nport = 1\n", "unknown setting server.port; config/default.toml lists all settings".to_owned()),
        ("[http]\npublic_url = 7\n", "the setting http.public_url cannot be used: ".to_owned()),
        ("[server]\nlisten\n", format!("the settings file {path} is not valid TOML: line 2: ")),
        ("server = 1\n", "the setting server cannot be used: it is a section".to_owned()),
    ] {
        std::fs::write(&file, text).unwrap();
        let refused = refused();
        assert!(refused.starts_with(&sentence), "{refused}");
    }
    assert!(!dir.path().join("data").exists());
}

#[test]
fn a_port_in_use_is_refused_before_anything_is_created() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let refused = run(dir.path(), &[("KEYMETER_SERVER__LISTEN", &address)], &["serve"]);
    let sentence = format!(
        "cannot listen on {address}: Address already in use (os error 98); free the port or set KEYMETER_SERVER__LISTEN"
    );
    assert_eq!(refusal(&refused), sentence);
    assert!(!dir.path().join("data").exists());
}

/// As in `keymeter openapi | head -1`.
#[test]
fn a_command_whose_output_nobody_reads_ends_well() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = keymeter(dir.path(), &[]).arg("openapi").stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[sqlx::test(migrations = false)]
async fn a_data_directory_that_cannot_be_written_is_refused(pool: PgPool) {
    empty(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "no directory").unwrap();
    let data = file.join("data");
    let data = data.to_str().unwrap();
    let database = url(&pool);
    let cause = "Not a directory (os error 20)";
    let private = format!(
        "cannot use {data}: {cause}; make it writable for this account, or set KEYMETER_DATA_DIR to another directory"
    );
    let elsewhere =
        format!("cannot use {data}/master.key: {cause}; make the data directory writable or set KEYMETER_DATA_DIR");
    for (database, sentence) in [("", private), (&*database, elsewhere)] {
        let refused = run(dir.path(), &[("KEYMETER_DATA_DIR", data), ("DATABASE_URL", database)], &["serve"]);
        assert_eq!(refusal(&refused), sentence);
    }
    assert_eq!(contents(&pool).await, "");
}

#[test]
fn a_database_that_does_not_answer_is_refused_without_its_password() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port();
    let sockets = dir.path().to_str().unwrap();
    let by_port = format!("postgres://keymeter:secret-password@127.0.0.1:{port}/keymeter");
    let by_socket = format!("postgres:///keymeter?user=keymeter&password=secret-password&host={sockets}");
    for (database, place) in [(by_port, format!("127.0.0.1:{port}")), (by_socket, sockets.to_owned())] {
        let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_DATABASE__WAIT_SECONDS", "0")];
        let sentence = format!("cannot reach PostgreSQL at {place}: ");
        for arguments in [&["serve"][..], &["migrate"], &["user", "create", "ana"], &["gateway", "list"]] {
            let refused = refusal(&run(dir.path(), &settings, arguments));
            assert!(refused.starts_with(&sentence) && !refused.contains("secret-password"), "{refused}");
            assert!(refused.ends_with("; check DATABASE_URL and that the server runs"), "{refused}");
        }
        let found = doctor_findings(&run(dir.path(), &settings, &["doctor"]));
        assert!(found[0].starts_with(&format!("database: {sentence}")), "{found:?}");
    }
    assert!(!dir.path().join("data").exists());
}

#[sqlx::test(migrations = false)]
async fn a_newer_schema_is_refused_and_unchanged(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let newer = "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
                 values (9999, 'of tomorrow', true, '\\x00', 0)";
    Server::start(dir.path(), &settings).await.terminate();
    sqlx::query(newer).execute(&pool).await.unwrap();
    // One that breaks no program of before.
    Server::start(dir.path(), &settings).await.terminate();
    sqlx::query("update installation set min_migration = 9999").execute(&pool).await.unwrap();
    let before = contents(&pool).await;
    let sentence = "a newer keymeter has migrated this database, and only programs with migration 9999 can use it; \
                    start that newer version";
    for arguments in [&["serve"][..], &["migrate"], &["user", "create", "ana"]] {
        assert_eq!(refusal(&run(dir.path(), &settings, arguments)), sentence);
    }
    assert_eq!(doctor_findings(&run(dir.path(), &settings, &["doctor"])), [format!("database: {sentence}")]);
    assert_eq!(contents(&pool).await, before);
    assert!(!dir.path().join("data").exists());
}

#[sqlx::test(migrations = false)]
async fn a_wrong_master_key_is_refused_and_nothing_changes(pool: PgPool) {
    empty(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let at = |key| [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", key)];
    let malformed = format!("the setting `secrets.master_key` cannot be used: {INVALID_MASTER_KEY}");
    assert_eq!(refusal(&run(dir.path(), &at("abc"), &["serve"])), malformed);
    assert_eq!(contents(&pool).await, "", "a malformed key creates nothing");

    let mut server = Server::start(dir.path(), &at(MASTER_KEY)).await;
    Client::root(&server).await.creates(json!({ "name": "kept" })).await.unwrap();
    server.terminate();
    let before = contents(&pool).await;
    let file = dir.path().join("data/master.key");
    assert!(!file.exists(), "a key from the settings is not written to a file");

    let place = file.display();
    let missing = format!(
        "the master key is missing: this database was created with one; set KEYMETER_SECRETS__MASTER_KEY or put it back \
         at {place}"
    );
    let wrong = format!(
        "the master key does not match this database; use the one it was created with (KEYMETER_SECRETS__MASTER_KEY or {place})"
    );
    for arguments in [&["serve"][..], &["user", "create", "ana"], &["gateway", "create", "edge"]] {
        assert_eq!(refusal(&run(dir.path(), &at("abc"), arguments)), malformed);
        assert_eq!(refusal(&run(dir.path(), &at(""), arguments)), missing);
        assert_eq!(refusal(&run(dir.path(), &at(OTHER_KEY), arguments)), wrong);
    }
    assert!(!file.exists(), "a lost key is not replaced");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for (text, sentence) in [("abc\n", format!("{place}: {INVALID_MASTER_KEY}")), (OTHER_KEY, wrong)] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(refusal(&run(dir.path(), &at(""), &["serve"])), sentence);
    }
    assert_eq!(contents(&pool).await, before);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), OTHER_KEY);

    std::fs::write(&file, format!("{MASTER_KEY}\n")).unwrap();
    let server = Server::start(dir.path(), &at("")).await;
    assert_eq!(Client::root(&server).await.get("/api/token/").await.ok()["total"], 1);
}

#[tokio::test]
async fn the_private_postgres_is_not_opened_without_its_master_key() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let (id, key) = Client::root(&server).await.creates(json!({ "name": "kept" })).await.unwrap();
    server.terminate();
    let file = dir.path().join("data/master.key");
    let copy = dir.path().join("copy");
    std::fs::rename(&file, &copy).unwrap();
    assert!(refusal(&run(dir.path(), &[], &["serve"])).starts_with("the master key is missing: "));
    assert!(!file.exists());
    std::fs::rename(&copy, &file).unwrap();
    let server = Server::start(dir.path(), &[]).await;
    assert_eq!(Client::root(&server).await.get(&format!("/api/token/{id}")).await.ok()["key"], key.as_str());
}

#[test]
fn an_invalid_command_line_is_refused_with_the_usage() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [&["sreve"][..], &["user"], &["user", "create"], &["gateway", "revoke", "x"], &["--loud"]] {
        let refused = run(dir.path(), &[], arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(!refused.stderr.is_empty() && refused.stdout.is_empty());
    }
}

#[tokio::test]
async fn the_first_start_creates_a_master_key_that_only_its_owner_can_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let file = dir.path().join("data/master.key");
    let key = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    assert!(key.trim_end().len() == 64 && key.trim_end().bytes().all(|digit| digit.is_ascii_hexdigit()));
    server.terminate();
    let output = server.output();
    assert!(output.contains(&format!("Master key: {} (keep a copy elsewhere", file.display())), "{output}");
    assert!(!output.contains(key.trim_end()));
    Server::start(dir.path(), &[]).await.terminate();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), key);
}

#[tokio::test]
async fn a_generated_root_password_is_printed_once_and_never_logged() {
    let dir = tempfile::tempdir().unwrap();
    let settings = [("KEYMETER_ROOT__PASSWORD", ""), ("KEYMETER_LOG__FILTER", "trace")];
    let mut server = Server::start(dir.path(), &settings).await;
    let password_in = |output: &str| {
        let line = output.lines().find(|line| line.starts_with("Sign in as `root`")).unwrap_or_default();
        line.split_once("with the password ").map(|(_, rest)| rest.split(' ').next().unwrap().to_owned())
    };
    // The line comes right after the one that `start` waits for.
    let read = || server.output();
    eventually("the password is printed", async || read().contains("(it is shown only this once)")).await;
    let password = password_in(&read()).unwrap();
    assert!(password.len() >= 20, "{password}");
    Client::signed_in(&server, "root", &password).await.get("/api/user/self").await.ok();
    server.terminate();
    server = Server::start(dir.path(), &settings).await;
    Client::signed_in(&server, "root", &password).await;
    server.terminate();
    let output = server.output();
    assert_eq!(output.matches(&password).count(), 1, "the file has both outputs of both runs");
}

#[sqlx::test(migrations = false)]
async fn a_root_password_that_is_too_short_is_refused(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let at = |password| [("DATABASE_URL", database.as_str()), ("KEYMETER_ROOT__PASSWORD", password)];
    let sentence =
        "cannot create the root account: the password must have 8 to 128 characters; set KEYMETER_ROOT__PASSWORD";
    assert_eq!(refusal(&run(dir.path(), &at("short"), &["serve"])), sentence);
    let server = Server::start(dir.path(), &at("long enough")).await;
    Client::signed_in(&server, "root", "long enough").await;
}

#[sqlx::test(migrations = false)]
async fn the_root_password_of_the_settings_is_used_at_the_first_start_only(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let at = |password| [("DATABASE_URL", database.as_str()), ("KEYMETER_ROOT__PASSWORD", password)];
    Server::start(dir.path(), &at("the first password")).await.terminate();
    let server = Server::start(dir.path(), &at("another password")).await;
    Client::stranger(&server).login("root", "another password").await.refuses(401, "wrong_credentials");
    Client::stranger(&server).login("root", "the first password").await.ok();
}

#[tokio::test]
async fn the_doctor_reports_a_good_installation_as_correct() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = doctor_findings(&run(dir.path(), &[], &["doctor"]));
    let data = dir.path().join("data");
    assert_eq!(
        nothing,
        [format!("database: there is none in {} yet; start one with `keymeter serve`", data.display())]
    );
    assert!(!data.exists());

    let mut server = Server::start(dir.path(), &[]).await;
    Client::root(&server).await.creates(json!({ "name": "kept" })).await.unwrap();
    let report = stdout_of(&run(dir.path(), &[], &["doctor"]));
    for line in [
        "ok     settings: can be read",
        "ok     schema: is that of this version",
        "ok     master key: matches the database",
        "ok     keys: all 1 can be decrypted",
        "ok     ledger: L1, L3, L5, L9 and L10 hold for every token and every wallet",
        "no errors found",
    ] {
        assert!(report.lines().any(|found| found == line), "{line:?} is not in\n{report}");
    }
    Client::root(&server).await.get("/api/token/").await.ok();
    server.terminate();
    let report = stdout_of(&run(dir.path(), &[], &["doctor"]));
    for line in [
        "ok     settings: can be read",
        "ok     schema: is that of this version",
        "ok     master key: matches the database",
        "ok     keys: all 1 can be decrypted",
        "no errors found",
    ] {
        assert!(report.lines().any(|found| found == line), "{line:?} is not in\n{report}");
    }
}

#[sqlx::test(migrations = false)]
async fn the_doctor_reports_what_is_wrong_and_changes_nothing(pool: PgPool) {
    empty(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let at = |key| [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", key)];
    let doctor = |key| run(dir.path(), &at(key), &["doctor"]);

    let migrations = keymeter::storage::MIGRATOR.iter().count();
    let waiting = format!("schema: {migrations} migrations wait; run `keymeter migrate` or start the service");
    assert_eq!(doctor_findings(&doctor(MASTER_KEY)), [waiting]);
    assert_eq!(contents(&pool).await, "");
    stdout_of(&run(dir.path(), &at(MASTER_KEY), &["migrate"]));
    assert_eq!(doctor_findings(&doctor(MASTER_KEY)), ["master key: the service was never started on this database"]);

    let mut server = Server::start(dir.path(), &at(MASTER_KEY)).await;
    let root = Client::root(&server).await;
    let (good, _) = root.creates(json!({ "name": "good" })).await.unwrap();
    let (bad, _) = root.creates(json!({ "name": "bad" })).await.unwrap();
    let (swapped, _) = root.creates(json!({ "name": "swapped" })).await.unwrap();
    server.terminate();
    assert!(stdout_of(&doctor(MASTER_KEY)).contains("ok     keys: all 3 can be decrypted\n"));
    sqlx::query("update tokens set key_sealed = '\\x0102' where id = $1").bind(bad).execute(&pool).await.unwrap();
    sqlx::query("update tokens set key_sealed = (select key_sealed from tokens where id = $1) where id = $2")
        .bind(good)
        .bind(swapped)
        .execute(&pool)
        .await
        .unwrap();
    let before = contents(&pool).await;
    let broken = format!(
        "keys: those of the tokens {bad}, {swapped} cannot be decrypted; restore these rows from a backup, or delete the \
         tokens: keys of deleted tokens are erased after `tokens.restore_days`"
    );
    for (key, finding) in [
        (MASTER_KEY, broken.as_str()),
        (OTHER_KEY, "master key: it does not match this database; use the one it was created with"),
        ("", "master key: it is missing; set KEYMETER_SECRETS__MASTER_KEY or put the file back"),
        ("abc", &format!("master key: the setting `secrets.master_key` cannot be used: {INVALID_MASTER_KEY}")),
    ] {
        assert_eq!(doctor_findings(&doctor(key)), [finding]);
    }
    assert_eq!(contents(&pool).await, before);
    assert!(!dir.path().join("data").exists());
}

#[sqlx::test(migrations = false)]
async fn an_operator_creates_accounts_and_sets_passwords_while_the_service_runs(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let server = Server::start(dir.path(), &settings).await;
    // Standard output is a generated password and nothing else.
    let generated_password = |output: &Output| stdout_of(output).strip_suffix('\n').unwrap().to_owned();
    let said = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap().lines().last().unwrap().to_owned();

    let output = run(dir.path(), &settings, &["user", "create", "ana"]);
    let ana = Client::signed_in(&server, "ana", &generated_password(&output)).await;
    let account = ana.get("/api/user/self").await.ok();
    assert_eq!(said(&output), format!("keymeter: created the user ana with the id {}", account["id"]));
    assert_eq!((&account["role"], &account["token_api_enabled"]), (&json!(1), &json!(false)));

    let create = ["user", "create", "bob", "--role", "admin", "--password-stdin"];
    let output = stdout_of(&run_with_input(dir.path(), &settings, &create, "bob's own password\n"));
    assert_eq!(output, "");
    let bob = Client::signed_in(&server, "bob", "bob's own password").await.get("/api/user/self").await.ok();
    assert_eq!((&bob["role"], &bob["token_api_enabled"]), (&json!(10), &json!(true)));
    stdout_of(&run(dir.path(), &settings, &["user", "create", "cleo", "--token-api"]));
    let output = run(dir.path(), &settings, &["user", "password", "cleo"]);
    assert_eq!(said(&output), "keymeter: changed the password of cleo and ended its sessions");
    Client::signed_in(&server, "cleo", &generated_password(&output)).await.get("/api/token/").await.ok();

    let change = ["user", "password", "ana", "--password-stdin"];
    stdout_of(&run_with_input(dir.path(), &settings, &change, "a new password\r\n"));
    ana.get("/api/user/self").await.refuses(401, "not_signed_in");
    Client::stranger(&server).login("ana", "a new password").await.ok();

    for (arguments, input, code, sentence) in [
        (&["user", "create", "ANA"][..], "", 5, "this username is taken"),
        (&["user", "create", "a b"], "", 1, "`username` must have 1 to 50 characters, without white space"),
        (&["user", "create", "dan", "--password-stdin"], "short\n", 1, "the password must have 8 to 128 characters"),
        (&change, "short\n", 1, "the password must have 8 to 128 characters"),
        (&["user", "password", "nobody"], "", 4, "there is no such user"),
        (&["user", "unlock", "nobody"], "", 4, "there is no such user"),
    ] {
        let refused = run_with_input(dir.path(), &settings, arguments, input);
        assert_eq!(refusal_with(code, &refused), sentence, "{arguments:?}");
    }
    let actors = "select count(*) from audit_log where request_id = 'command line' and actor_id is null";
    let entries: i64 = sqlx::query_scalar(actors).fetch_one(&pool).await.unwrap();
    assert_eq!(entries, 5);
}

#[tokio::test]
async fn an_operator_creates_lists_and_revokes_gateway_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let output = stdout_of(&run(dir.path(), &[], &["gateway", "create", "edge one"]));
    let credential = output.trim_end();
    assert!(credential.starts_with("kmg_") && credential.len() > 40 && !credential.contains('\n'), "{credential}");
    stdout_of(&run(dir.path(), &[], &["gateway", "create", "edge two"]));
    let list = || stdout_of(&run(dir.path(), &[], &["gateway", "list"]));
    let names = |list: &str| -> Vec<String> {
        let gateways = list.lines().filter(|line| !line.starts_with('\t'));
        gateways.map(|line| line.split("\tcreated at ").next().unwrap().to_owned()).collect()
    };
    let all = list();
    let mut both = names(&all);
    both.sort();
    assert_eq!(both, ["1\tedge one", "2\tedge two"]);
    assert!(!all.contains(credential));
    let credential_command =
        |arguments: &[&str]| run(dir.path(), &[], &[&["gateway", "credential"], arguments].concat());
    let created = credential_command(&["create", "1"]);
    let said = String::from_utf8_lossy(&created.stderr);
    assert!(said.ends_with("created the credential 3 of the gateway 1; it is shown only this once\n"), "{said}");
    let output = stdout_of(&created);
    let second = output.trim_end();
    let credentials = || -> Vec<String> {
        let output = list();
        assert!(!output.contains(second));
        let lines = output.lines().filter(|line| line.starts_with('\t'));
        lines.map(|line| line.split("\tcreated at ").next().unwrap().to_owned()).collect()
    };
    let hint = |secret: &str| secret[secret.len() - 4..].to_owned();
    let line = |id: i64, secret: &str| format!("\tcredential {id}\t…{}", hint(secret));
    assert_eq!(credentials()[1..], [line(3, second), line(1, credential)]);
    assert!(list().lines().filter(|line| line.starts_with('\t')).all(|line| line.ends_with("\tnever used")));
    for arguments in [&["revoke", "1"][..], &["credential", "revoke", "1", "1"]] {
        let asked = refusal_with(2, &run(dir.path(), &[], &[&["gateway"], arguments].concat()));
        assert!(asked.ends_with("it stops working at once? [y/N]\"; use --yes"), "{asked}");
    }
    let revoked = credential_command(&["revoke", "1", "1", "--yes"]);
    assert_eq!(stdout_of(&revoked), "");
    let said = String::from_utf8_lossy(&revoked.stderr);
    assert!(said.ends_with("keymeter: revoked the credential 1 of the gateway 1\n"), "{said}");
    assert_eq!(credentials()[1..], [line(3, second)]);
    assert_eq!(refusal_with(4, &credential_command(&["revoke", "1", "1", "--yes"])), "there is no such credential");
    assert_eq!(refusal_with(4, &credential_command(&["create", "9999"])), "there is no such gateway");
    stdout_of(&run(dir.path(), &[], &["gateway", "revoke", "edge one", "--yes"]));
    assert_eq!(names(&list()), ["2\tedge two"]);
    for id in ["1", "9999"] {
        assert_eq!(
            refusal_with(4, &run(dir.path(), &[], &["gateway", "revoke", id, "--yes"])),
            "there is no such gateway"
        );
    }
    assert_eq!(refusal(&run(dir.path(), &[], &["gateway", "create", ""])), "`name` is required");
}

#[tokio::test]
async fn health_reports_whether_the_service_runs() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let address = server.address();
    let health = |listen: &str| run(dir.path(), &[("KEYMETER_SERVER__LISTEN", listen)], &["health"]);
    assert_eq!(stdout_of(&health(address)), "");
    for all in ["0.0.0.0", "", "*"] {
        assert_eq!(stdout_of(&health(&address.replace("127.0.0.1", all))), "");
    }
    let nowhere = format!("127.0.0.1:{}", free_port());
    assert!(refusal(&health(&nowhere)).starts_with(&format!("no service answers at {nowhere}: ")));
}

/// Sends the head of a request that creates a token; the server waits for its body.
async fn send_head_of_creation(server: &Server, access_token: &str, body: &str) -> TcpStream {
    let head = format!("POST /api/token/ HTTP/1.1\r\nauthorization: {access_token}\r\n");
    send_head(server, &head, body.len()).await.unwrap()
}

async fn wait_until_stopping(server: &Server) {
    let log = || server.output();
    eventually("the service begins to stop", async || log().contains("stopping: ")).await;
    let address = server.address();
    eventually("the service accepts no new connections", async || TcpStream::connect(address).await.is_err()).await;
}

#[tokio::test]
async fn sigterm_and_sigint_finish_running_requests_and_exit_0() {
    for signal in ["TERM", "INT"] {
        let dir = tempfile::tempdir().unwrap();
        let mut server = Server::start(dir.path(), &[]).await;
        let access_token = access_token_of_root(&server).await;
        let body = r#"{"name":"in flight"}"#;
        let mut stream = send_head_of_creation(&server, &access_token, body).await;
        server.signal(signal);
        wait_until_stopping(&server).await;
        assert!(server.child.try_wait().unwrap().is_none(), "the service waits for the request");
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with(r#"{"success":true,"message":""}"#), "{answer}");
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");

        let server = Server::start(dir.path(), &[]).await;
        let list = Client::with(&server, &access_token).get("/api/token/").await.ok();
        assert_eq!(list["items"][0]["name"], "in flight");
    }
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_after_the_drain_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[("KEYMETER_SERVER__DRAIN_SECONDS", "1")]).await;
    let access_token = access_token_of_root(&server).await;
    let mut stream = send_head_of_creation(&server, &access_token, r#"{"name":"never sent"}"#).await;
    let began = Instant::now();
    assert_eq!(server.terminate(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(!String::from_utf8_lossy(&rest).starts_with("HTTP/1.1 200"));
}
