//! The real program on its private PostgreSQL: normal use, commands beside it, stops and crashes, and what it refuses.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::harness::client::access_token_of_root;
use crate::harness::cluster::running_as_root;
use crate::harness::process::{children, keymeter, kill, private_postgres, run};
use crate::harness::wait::eventually;
use crate::harness::{Client, Server, database};

fn lives(pid: u32) -> bool {
    // A process that ended and was not waited for has no files any more.
    fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

/// The sentence with which a command line is refused, without the name of the program.
fn refusal(dir: &Path, settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = run(dir, settings, &["serve"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let last = stderr.lines().last().unwrap_or_default();
    (output.status.code(), last.strip_prefix("keymeter: ").unwrap_or(last).to_owned())
}

/// A key without a limit of its own, and a gateway that charges it.
struct Spender {
    token: i64,
    key: String,
    gateway: Client,
    root: Client,
    answered: Arc<AtomicI64>,
}

impl Spender {
    async fn new(server: &Server) -> Self {
        let root = Client::root(server).await;
        let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
        let (token, key) = root.creates(json!({ "name": "spent", "unlimited_quota": true })).await.unwrap();
        root.post("/api/admin/users/1/quota", json!({ "set": 1_000_000 })).await.ok();
        let gateway = Client::with(server, &format!("Bearer {}", gateway["credential"].as_str().unwrap()));
        Self { token, key, gateway, root, answered: Arc::default() }
    }

    /// Goes on with a server that was started again.
    fn moves_to(&mut self, server: &Server) {
        for client in [&mut self.gateway, &mut self.root] {
            client.base.clone_from(&server.base);
        }
    }

    /// Charges one unit after the other, until the server does not answer any more.
    fn charges(&self) -> JoinHandle<()> {
        let (gateway, answered) = (self.gateway.clone(), Arc::clone(&self.answered));
        let body = json!({ "key": self.key, "quota": 1 }).to_string();
        tokio::spawn(async move {
            while let Ok(answer) = gateway.try_send(Method::POST, "/api/gateway/charge", body.clone()).await {
                match answer.status.as_u16() {
                    200 => answered.fetch_add(1, Ordering::SeqCst),
                    503 => break,
                    other => panic!("{other}: {}", answer.text),
                };
            }
        })
    }

    fn answered(&self) -> i64 {
        self.answered.load(Ordering::SeqCst)
    }

    async fn has_answered_more_than(&self, count: i64) {
        eventually("charges are answered", async || self.answered() > count).await;
    }

    /// What is in the books.
    async fn used(&self) -> i64 {
        self.root.get(&format!("/api/token/{}/details", self.token)).await.ok()["used_quota"].as_i64().unwrap()
    }
}

#[tokio::test]
async fn the_token_api_works_on_a_private_postgres() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;

    root.post("/api/admin/users", json!({ "username": "ana", "password": "ana's password" })).await.ok();
    let session = Client::signed_in(&server, "ana", "ana's password").await;
    let ana = Client::with(&server, session.get("/api/user/token").await.ok().as_str().unwrap());
    ana.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "work" })).await.ok()["id"].clone();
    root.post(&format!("/api/admin/token_api_requests/{request}"), json!({ "decision": "approve" })).await.ok();

    let created = ana.post("/api/token/", json!({ "name": "first", "remain_quota": 500_000 })).await;
    assert_eq!(created.text, r#"{"success":true,"message":""}"#);
    let list = ana.get("/api/token/").await.ok();
    assert_eq!((&list["total"], &list["items"][0]["key"]), (&json!(1), &json!("")));
    let id = list["items"][0]["id"].clone();
    let found = ana.get("/api/token/search?keyword=FIR").await.ok();
    assert_eq!(found["items"], list["items"]);
    let key = ana.get(&format!("/api/token/{id}")).await.ok()["key"].as_str().unwrap().to_owned();
    assert_eq!(ana.get(&format!("/api/token/search?token={key}")).await.ok()["items"], list["items"]);
    assert_eq!(ana.get(&format!("/api/token/search?token={}", &key[10..20])).await.ok()["items"], list["items"]);

    assert_eq!(ana.put("/api/token/", json!({ "id": id, "name": "renamed" })).await.ok()["name"], "renamed");
    for status in [2, 1] {
        let switched = ana.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await;
        assert_eq!(switched.ok()["status"], status);
    }
    let holder = Client::with(&server, &format!("Bearer {key}"));
    assert_eq!(holder.get("/api/usage/token/").await.ok()["total_available"], 500_000);
    assert_eq!(ana.get(&format!("/api/token/{id}/usage")).await.ok()["daily"].as_array().unwrap().len(), 1);

    ana.delete(&format!("/api/token/{id}")).await.ok();
    ana.delete(&format!("/api/token/{id}")).await.refuses(404, "not_found");
    ana.get(&format!("/api/token/{id}")).await.refuses(404, "not_found");
    holder.get("/api/usage/token/").await.refuses(401, "invalid_key");
}

#[tokio::test]
async fn confirmed_tokens_survive_kill_9() {
    const WRITERS: usize = 4;
    const BEFORE_THE_KILL: usize = 12;
    let dir = tempfile::tempdir().unwrap();
    let confirmed = Arc::new(Mutex::new(Vec::<(i64, String)>::new()));
    let mut server = Server::start(dir.path(), &[]).await;
    let access_token = access_token_of_root(&server).await;
    for round in 0..3 {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (root, confirmed) = (Client::with(&server, &access_token), Arc::clone(&confirmed));
                tokio::spawn(async move {
                    while let Some(made) = root.creates(json!({ "name": format!("{round} of {writer}") })).await {
                        confirmed.lock().unwrap().push(made);
                    }
                })
            })
            .collect();
        let count = || confirmed.lock().unwrap().len();
        let enough = count() + BEFORE_THE_KILL;
        eventually("the writers created tokens", async || count() >= enough).await;
        // The last round kills both.
        let postgres = private_postgres(dir.path()).unwrap();
        server.kill();
        if round == 2 {
            kill("-KILL", postgres);
        }
        for writer in writers {
            writer.await.unwrap();
        }

        server = Server::start(dir.path(), &[]).await;
        let root = Client::with(&server, &access_token);
        let all = confirmed.lock().unwrap().clone();
        for (id, key) in &all {
            assert_eq!(root.get(&format!("/api/token/{id}")).await.ok()["key"], key.as_str(), "token {id}");
        }
        let total = root.get("/api/token/").await.ok()["total"].as_u64().unwrap();
        let unconfirmed = u64::try_from(WRITERS * (round + 1)).unwrap();
        let known = u64::try_from(all.len()).unwrap();
        assert!((known..=known + unconfirmed).contains(&total), "{known} were confirmed, {total} are there");
    }
}

#[tokio::test]
async fn tokens_and_sessions_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;
    let (id, key) = root.creates(json!({ "name": "kept" })).await.unwrap();
    let session = Client::signed_in(&server, "root", crate::harness::ROOT_PASSWORD).await;
    assert_eq!(server.terminate(), Some(0));

    server = Server::start(dir.path(), &[]).await;
    for mut caller in [root, session] {
        caller.base.clone_from(&server.base);
        assert_eq!(caller.get(&format!("/api/token/{id}")).await.ok()["key"], key.as_str());
    }
}

#[tokio::test]
async fn a_data_directory_with_a_long_path_works() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a-very-long-name-of-a-directory".repeat(6));
    let data = deep.to_str().unwrap();
    let settings = [("KEYMETER_DATA_DIR", data)];
    let mut server = Server::start(dir.path(), &settings).await;
    let (id, _) = Client::root(&server).await.creates(json!({ "name": "deep" })).await.unwrap();
    assert_eq!(server.terminate(), Some(0));
    server = Server::start(dir.path(), &settings).await;
    Client::root(&server).await.get(&format!("/api/token/{id}")).await.ok();
    let report = String::from_utf8(run(dir.path(), &settings, &["doctor"]).stdout).unwrap();
    assert!(report.ends_with("no errors found\n"), "a command finds the socket: {report}");
    assert_eq!(server.terminate(), Some(0));
}

#[tokio::test]
async fn commands_work_beside_the_server_and_a_second_server_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    for arguments in [&["migrate"][..], &["user", "create", "ana"], &["gateway", "create", "edge"], &["doctor"]] {
        let output = run(dir.path(), &[], arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let data = dir.path().join("data").canonicalize().unwrap();
    let sentence = "is in use by another keymeter; stop it, or set KEYMETER_DATA_DIR";
    assert_eq!(refusal(dir.path(), &[]), (Some(1), format!("the data directory {} {sentence}", data.display())));
    let root = Client::root(&server).await;
    assert_eq!(root.get("/api/admin/gateways").await.ok()[0]["name"], "edge");
    assert_eq!(server.terminate(), Some(0));
    assert_eq!(private_postgres(dir.path()), None, "PostgreSQL is stopped with the server");
    let listed = run(dir.path(), &[], &["gateway", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("edge"));
    assert_eq!(private_postgres(dir.path()), None, "and with the command");
}

#[tokio::test]
async fn a_postgres_that_is_killed_is_started_again_and_callers_get_503_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let root = Client::root(&server).await;
    let (id, _) = root.creates(json!({ "name": "kept" })).await.unwrap();
    let first = private_postgres(dir.path()).unwrap();
    kill("-KILL", first);
    eventually("PostgreSQL is there again", async || {
        let answer = root.get(&format!("/api/token/{id}")).await;
        assert!([200, 503].contains(&answer.status.as_u16()), "{}", answer.text);
        answer.status == 200 && private_postgres(dir.path()).is_some_and(|pid| pid != first)
    })
    .await;
    server.logged(|line| line.contains("PostgreSQL ended; it is started again")).await;
}

#[tokio::test]
async fn what_a_killed_server_left_is_ended_and_not_adopted() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let root = access_token_of_root(&server).await;
    let left = private_postgres(dir.path()).unwrap();
    server.kill();
    assert!(lives(left));
    let mut server = Server::start(dir.path(), &[]).await;
    assert!(!lives(left));
    server.logged(|line| line.contains("an earlier PostgreSQL still runs on these data; ending it")).await;
    Client::with(&server, &root).get("/api/token/").await.ok();

    // The number in its file may belong to another program by now: that one lives on.
    server.terminate();
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let data = dir.path().join("data/pg");
    let file = format!("{}\n{}\n1795392000\n5432\n/nowhere\n\n 1 1\nready\n", other.id(), data.display());
    fs::write(data.join("postmaster.pid"), file).unwrap();
    let server = Server::start(dir.path(), &[]).await;
    assert!(other.try_wait().unwrap().is_none());
    server.logged(|line| line.contains("removed what a PostgreSQL that has ended left")).await;
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn a_session_that_outlives_its_killed_server_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let root = access_token_of_root(&server).await;
    let postgres = private_postgres(dir.path()).unwrap();
    let session = children(postgres)[0];
    // As if it waited for the disk, it notices nothing.
    kill("-STOP", session);
    server.kill();
    kill("-KILL", postgres);
    let server = Server::start(dir.path(), &[]).await;
    assert!(!lives(session));
    Client::with(&server, &root).get("/api/token/").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_waits_while_a_server_ends_what_a_killed_one_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]).await;
    let left = private_postgres(dir.path()).unwrap();
    server.kill();
    // Its file still says that it is ready, and it ends late.
    kill("-STOP", left);
    let command = async {
        let log = dir.path().join("keymeter.log");
        eventually("what was left is found", async || fs::read_to_string(&log).unwrap().contains("ending it")).await;
        let doctor = keymeter(dir.path(), &[]).arg("doctor").stdout(Stdio::piped()).spawn().unwrap();
        // As long as a command needs to connect, if nothing keeps it away.
        tokio::time::sleep(Duration::from_millis(500)).await;
        kill("-CONT", left);
        tokio::task::spawn_blocking(|| doctor.wait_with_output().unwrap()).await.unwrap()
    };
    let (_server, output) = tokio::join!(Server::start(dir.path(), &[]), command);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.ends_with("no errors found\n"), "{report}");
}

#[tokio::test]
async fn nothing_of_the_environment_reaches_postgres() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = [
        ("PGDATA", "/nonexistent"),
        ("PGPORT", "1"),
        ("PGHOST", "/nonexistent"),
        ("PGUSER", "nobody"),
        ("PGOPTIONS", "-c search_path=nowhere"),
        ("PGTZ", "Asia/Tokyo"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LC_MESSAGES", "de_DE.UTF-8"),
        ("LD_PRELOAD", "/nonexistent"),
        ("LD_LIBRARY_PATH", "/nonexistent"),
    ];
    let server = Server::start(dir.path(), &hostile).await;
    Client::root(&server).await.creates(json!({ "name": "kept" })).await.unwrap();
    let pid = private_postgres(dir.path()).unwrap();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let names: Vec<_> = environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| Some(String::from_utf8_lossy(entry).split_once('=')?.0.to_owned()))
        .collect();
    // PostgreSQL sets the second one itself.
    assert!(names.iter().all(|name| ["LC_ALL", "PGDATA", "PG_GRANDPARENT_PID"].contains(&&**name)), "{names:?}");
}

#[tokio::test]
async fn it_writes_to_disk_and_is_reached_through_its_socket_only() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let pool = sqlx::PgPool::connect_with(database::private(dir.path())).await.unwrap();
    let names = ["fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "data_checksums", "TimeZone"];
    for (name, expected) in names.into_iter().zip(["on", "on", "on", "", "on", "UTC"]) {
        let found: String = sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(&pool).await.unwrap();
        assert_eq!(found, expected, "{name}");
    }
    // Also of a cluster that an older version made.
    let hosts = "select count(*) from pg_hba_file_rules where type <> 'local'";
    assert_eq!(sqlx::query_scalar::<_, i64>(hosts).fetch_one(&pool).await.unwrap(), 0);
    let kind = "select pg_encoding_to_char(encoding) || ' ' || datcollate from pg_database where datname = 'postgres'";
    assert_eq!(sqlx::query_scalar::<_, String>(kind).fetch_one(&pool).await.unwrap(), "UTF8 C");
    drop(server);
}

#[test]
fn data_of_another_version_or_of_the_former_database_and_missing_programs_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let nowhere = dir.path().join("nowhere");
    let named = [("KEYMETER_DATABASE__PROGRAMS", nowhere.to_str().unwrap())];
    let sentence = "and the programs `postgres` and `initdb` are not there";
    assert_eq!(
        refusal(dir.path(), &named),
        (Some(2), format!("`database.programs` is {}, {sentence}", nowhere.display()))
    );

    fs::create_dir_all(data.join("pg")).unwrap();
    fs::write(data.join("pg/PG_VERSION"), "9\n").unwrap();
    let (code, refused) = refusal(dir.path(), &[]);
    assert_eq!(code, Some(2));
    assert!(refused.starts_with("the data are those of PostgreSQL 9, and this machine has 1"), "{refused}");
    assert!(refused.ends_with("docs/operations.md says how to change the version"), "{refused}");

    fs::rename(data.join("pg/PG_VERSION"), data.join("pg/other")).unwrap();
    let database = data.canonicalize().unwrap().join("pg");
    let sentence = "is not empty and has no database; move it away";
    assert_eq!(refusal(dir.path(), &[]), (Some(2), format!("{} {sentence}", database.display())));

    // As that database laid them out, with a socket directory of another owner.
    let cluster = data.join("postgres/tmp/pglite/base");
    fs::create_dir_all(&cluster).unwrap();
    fs::create_dir_all(data.join("run")).unwrap();
    fs::rename(data.join("pg/other"), cluster.join("PG_VERSION")).unwrap();
    fs::remove_dir(data.join("pg")).unwrap();
    let (code, refused) = refusal(dir.path(), &[]);
    assert_eq!(code, Some(2));
    let former = data.canonicalize().unwrap().join("postgres");
    assert!(refused.starts_with(&format!("{} has data of the database that was part of keymeter", former.display())));
    assert_eq!(fs::read_to_string(cluster.join("PG_VERSION")).unwrap(), "9\n");
}

#[test]
fn as_root_one_is_told_what_keeps_the_account_of_postgres_out() {
    require_root();
    let dir = tempfile::tempdir().unwrap();
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let data = closed.join("data");
    let (code, refused) = refusal(dir.path(), &[("KEYMETER_DATA_DIR", data.to_str().unwrap())]);
    assert_eq!(code, Some(2));
    assert!(refused.contains("PostgreSQL does not run as root, and the account "), "{refused}");
    assert!(refused.contains(&format!("Open it with `chmod o+x {}`", closed.display())), "{refused}");
}

#[test]
fn as_root_one_is_told_that_the_owner_of_the_data_has_no_name() {
    require_root();
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(4_000_000), None).unwrap();
    let sentence = "PostgreSQL needs an account with a name, and the number 4000000 has none in /etc/passwd; add one, or start \
                    keymeter as another account";
    assert_eq!(refusal(dir.path(), &[]), (Some(2), sentence.to_owned()));
}

/// Tests that need root have that in their names, by which `scripts/test-service.sh` leaves them out for others.
fn require_root() {
    assert!(running_as_root(), "this test needs root; leave out: KEYMETER_TEST_WITHOUT=as_root,in_namespaces");
}

/// A server in namespaces of its own, where it is process 1 and where nobody else sees what is mounted.
struct Isolated {
    server: Server,
    data: PathBuf,
}

impl Isolated {
    /// Starts it after these commands of a shell, whose first argument is the data directory.
    async fn start(dir: &Path, prepare: &str) -> Self {
        require_root();
        let unshare = |command: &mut Command, script: &str| {
            command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec", script]);
        };
        let data = dir.join("data");
        fs::create_dir(&data).unwrap();
        let mut trial = Command::new("unshare");
        unshare(&mut trial, prepare);
        let may_mount = trial.arg("sh").arg(&data).status().is_ok_and(|status| status.success());
        assert!(may_mount, "unshare and mount are not allowed here; leave out: KEYMETER_TEST_WITHOUT=in_namespaces");
        let alone = keymeter(dir, &[]);
        let mut command = Command::new("unshare");
        unshare(&mut command, &format!("{prepare}\nexec \"$0\" serve"));
        command.arg(alone.get_program()).arg(&data).env_clear();
        command.envs(alone.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self { server: Server::spawn(dir, command).await, data }
    }

    /// The number of the server outside its namespace.
    fn pid(&self) -> u32 {
        children(self.server.child.id())[0]
    }

    fn postgres(&self) -> Option<u32> {
        let is_server =
            |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "postgres\n");
        children(self.pid()).into_iter().find(|pid| is_server(pid) && !is_dead(*pid))
    }

    /// The data directory as the server sees it.
    fn data(&self) -> PathBuf {
        Path::new(&format!("/proc/{}/root", self.pid())).join(self.data.strip_prefix("/").unwrap())
    }

    fn doctor(&self) -> String {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.pid().to_string(), "--mount", "--pid"]);
        let alone = keymeter(self.data.parent().unwrap(), &[]);
        command.arg(alone.get_program()).arg("doctor").env_clear();
        command.envs(alone.get_envs().filter_map(|(name, value)| Some((name, value?))));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }
}

/// Whether nobody has waited for this process, which has ended.
fn is_dead(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z'))
}

#[tokio::test(flavor = "multi_thread")]
async fn in_namespaces_process_1_of_a_container_with_a_root_that_is_read_only_and_little_shared_memory_works() {
    let dir = tempfile::tempdir().unwrap();
    let container = "mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm
        mount -t tmpfs -o size=300m,mode=711 tmpfs \"$1\"
        mount -o remount,bind,ro /";
    let mut isolated = Isolated::start(dir.path(), container).await;
    isolated.server.logged(|line| line.contains("the data directory is in memory (tmpfs)")).await;
    let spender = Spender::new(&isolated.server).await;
    let load = spender.charges();
    spender.has_answered_more_than(20).await;
    let first = isolated.postgres().unwrap();
    kill("-KILL", first);
    eventually("PostgreSQL is there again", async || isolated.postgres().is_some_and(|pid| pid != first)).await;
    // Its first 503 ends it. If PostgreSQL is back soon enough, there is none.
    load.abort();
    let _ = load.await;
    let answered = spender.answered();
    eventually("charges are answered again", async || {
        spender.charges();
        spender.answered() > answered
    })
    .await;
    // The sessions of the one that was killed became children of process 1.
    eventually("no dead process is left", async || !children(isolated.pid()).into_iter().any(is_dead)).await;
    let report = isolated.doctor();
    assert!(report.ends_with("no errors found\n"), "{report}");
    kill("-TERM", isolated.pid());
    assert_eq!(isolated.server.child.wait().unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_namespaces_a_full_disk_refuses_charges_and_loses_none() {
    const CLIENTS: i64 = 8;
    let dir = tempfile::tempdir().unwrap();
    let disk = "mount -t tmpfs -o size=64m,mode=711 tmpfs \"$1\"";
    let isolated = Isolated::start(dir.path(), disk).await;
    let spender = Spender::new(&isolated.server).await;
    let load: Vec<_> = (0..CLIENTS).map(|_| spender.charges()).collect();
    spender.has_answered_more_than(20).await;
    let filler = isolated.data().join("filler");
    let filled = std::io::copy(&mut std::io::repeat(0), &mut fs::File::create(&filler).unwrap());
    assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    // Each client ends at the first 503.
    eventually("charges are refused", async || load.iter().all(JoinHandle::is_finished)).await;
    let refused = spender.answered();
    fs::remove_file(&filler).unwrap();
    let again = spender.charges();
    spender.has_answered_more_than(refused + 20).await;
    again.abort();
    let _ = again.await;
    let (used, answered) = (spender.used().await, spender.answered());
    assert!((answered..=answered + CLIENTS + 1).contains(&used), "{answered} were answered, {used} are there");
    let report = isolated.doctor();
    assert!(report.ends_with("no errors found\n"), "{report}");
    isolated.server.logged(|line| line.contains("the disk is full, or nearly: free some space")).await;
}

#[tokio::test]
async fn a_start_that_fails_shows_what_postgres_said() {
    let dir = tempfile::tempdir().unwrap();
    Server::start(dir.path(), &[]).await.terminate();
    let control = dir.path().join("data/pg/global/pg_control");
    fs::rename(&control, control.with_extension("away")).unwrap();
    let (code, refused) = refusal(dir.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(refused.contains("does not start: ") && refused.contains("pg_control"), "{refused}");
    assert!(refused.ends_with("Its log is postgres.log in the data directory"), "{refused}");
}

#[tokio::test]
async fn ctrl_c_on_a_terminal_answers_every_accepted_charge() {
    let dir = tempfile::tempdir().unwrap();
    // A terminal sends it to every process of the group.
    let mut command = keymeter(dir.path(), &[]);
    command.arg("serve").process_group(0);
    let mut server = Server::spawn(dir.path(), command).await;
    let mut spender = Spender::new(&server).await;
    let load = spender.charges();
    spender.has_answered_more_than(20).await;
    assert!(Command::new("kill").args(["-INT", "--", &format!("-{}", server.child.id())]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    load.await.unwrap();
    let server = Server::start(dir.path(), &[]).await;
    spender.moves_to(&server);
    assert_eq!(spender.used().await, spender.answered());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_has_every_charge_that_was_answered_before() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(dir.path(), &[]).await;
    let mut spender = Spender::new(&server).await;
    let load = spender.charges();
    spender.has_answered_more_than(20).await;
    let before = spender.answered();
    let backup = dir.path().join("backup");
    let arguments = ["backup", backup.to_str().unwrap()];
    let made = run(dir.path(), &[], &arguments);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(
        String::from_utf8_lossy(&made.stdout).ends_with("so is the master key: with both, every key can be read\n")
    );
    load.abort();
    let after = spender.answered();
    assert!(after > before, "charges were answered while the backup was made");
    // A directory that somebody else made is left alone.
    let part = dir.path().join("other.part");
    fs::create_dir(&part).unwrap();
    fs::write(part.join("theirs"), "x").unwrap();
    let refused = run(dir.path(), &[], &["backup", dir.path().join("other").to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("other.part exists: a backup that was ended leaves it"));
    assert!(part.join("theirs").exists());
    let again = run(dir.path(), &[], &arguments);
    let sentence = format!("keymeter: {} exists; name a directory that does not\n", backup.display());
    assert_eq!(String::from_utf8_lossy(&again.stderr), sentence);

    let restored = run(elsewhere.path(), &[], &["restore", backup.to_str().unwrap()]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    let report = run(elsewhere.path(), &[], &["doctor"]);
    let text = String::from_utf8(report.stdout).unwrap();
    assert!(text.ends_with("no errors found\n"), "{text}");
    let copy = Server::start(elsewhere.path(), &[]).await;
    spender.root = Client::root(&copy).await;
    let used = spender.used().await;
    assert!((before..=after + 1).contains(&used), "{before} {used} {after}");
    drop(copy);

    let data = elsewhere.path().join("data").canonicalize().unwrap();
    let refused = run(elsewhere.path(), &[], &["restore", backup.to_str().unwrap()]);
    let sentence = "a restore needs an empty data directory: move them away, or set KEYMETER_DATA_DIR";
    let expected = format!("keymeter: there are data in {}; {sentence}\n", data.display());
    assert_eq!(String::from_utf8_lossy(&refused.stderr), expected);
    fs::remove_file(backup.join("pg/backup_label")).unwrap();
    let refused = run(dir.path(), &[], &["restore", backup.to_str().unwrap()]);
    let expected = format!("keymeter: {} is no complete backup\n", backup.display());
    assert_eq!(String::from_utf8_lossy(&refused.stderr), expected);
    let elsewhere = run(dir.path(), &[("DATABASE_URL", "postgres://127.0.0.1/x")], &["restore", "x"]);
    let sentence = "this is not for the database of DATABASE_URL; use pg_dump and pg_restore";
    assert!(String::from_utf8_lossy(&elsewhere.stderr).contains(sentence));
}

#[tokio::test]
async fn psql_opens_the_database_of_the_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let arguments = ["psql", "--tuples-only", "--no-align", "--command", "select username from users"];
    let found = run(dir.path(), &[], &arguments);
    assert_eq!(String::from_utf8_lossy(&found.stdout), "root\n", "{}", String::from_utf8_lossy(&found.stderr));
    let failed = run(dir.path(), &[], &["psql", "--command", "select"]);
    assert!(failed.status.success());
    let failed = run(dir.path(), &[("PATH", "/nonexistent")], &arguments);
    let stderr = String::from_utf8(failed.stderr).unwrap();
    let sockets = dir.path().join("data/run").canonicalize().unwrap();
    assert!(stderr.contains(&format!("connect with: psql -h {} -U keymeter postgres", sockets.display())), "{stderr}");
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_and_commands_at_once_choose_one_master_key() {
    let dir = tempfile::tempdir().unwrap();
    let create = |name: &str| {
        keymeter(dir.path(), &[]).args(["gateway", "create", name]).stdout(Stdio::piped()).spawn().unwrap()
    };
    let before = create("before");
    let mut server = keymeter(dir.path(), &[]).arg("serve").stdout(Stdio::null()).spawn().unwrap();
    let commands = [before, create("one"), create("two"), create("three")];
    for command in commands {
        let output = command.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    // Beside a command that was first, the server is refused.
    kill("-TERM", server.id());
    server.wait().unwrap();
    for _ in 0..2 {
        let report = run(dir.path(), &[], &["doctor"]);
        let text = String::from_utf8(report.stdout).unwrap();
        assert!(text.contains("master key: matches the database") && text.ends_with("no errors found\n"), "{text}");
    }
    let list = String::from_utf8(run(dir.path(), &[], &["gateway", "list"]).stdout).unwrap();
    assert!(["before", "one", "two", "three"].iter().all(|name| list.contains(name)), "{list}");
}

/// Starts a server, stops it after this time, and returns whether PostgreSQL ran by then.
async fn stop_during_the_start(dir: &Path, millis: u64) -> bool {
    let mut server = keymeter(dir, &[]).arg("serve").stdout(Stdio::null()).spawn().unwrap();
    tokio::time::sleep(Duration::from_millis(millis)).await;
    let pid = private_postgres(dir);
    kill("-TERM", server.id());
    let code = server.wait().unwrap().code();
    // Only before the signals are caught at all, it ends by the signal.
    assert!(code == Some(0) || (code.is_none() && pid.is_none()), "after {millis} ms: {code:?}");
    let is_left = || private_postgres(dir).into_iter().chain(pid).any(lives);
    eventually("no PostgreSQL is left", async || !is_left()).await;
    pid.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_during_the_start_leaves_no_postgres() {
    let dir = tempfile::tempdir().unwrap();
    // While the database is created.
    for millis in [50, 200, 400] {
        stop_during_the_start(dir.path(), millis).await;
    }
    Server::start(dir.path(), &[]).await.terminate();
    // While PostgreSQL starts and the service opens it: as soon as it runs, and a little later.
    let mut millis = 20;
    while !stop_during_the_start(dir.path(), millis).await {
        millis += 20;
    }
    for later in [20, 60, 120, 200] {
        stop_during_the_start(dir.path(), millis + later).await;
    }
    let server = Server::start(dir.path(), &[]).await;
    Client::root(&server).await.get("/api/token/").await.ok();
}
