//! What lists and tables of the command line print, and what they refuse.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command_line::{Person, refusal_of, said_by, stderr_of, stdout_of};
use crate::harness::process::keymeter;
use crate::harness::wait::eventually;
use crate::harness::{Client, Server};

#[tokio::test]
async fn people_read_dollars_and_scripts_read_units() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;

    let none = person.run(&["key", "list"]);
    assert!(stdout_of(&none).is_empty() && stderr_of(&none).ends_with("keymeter: no keys\n"), "{}", stderr_of(&none));
    assert_eq!(person.json(&["key", "list"]), json!([]));

    person.json(&["key", "create", "small", "--quota", "1", "--per-day", "100", "--usd-per-month", "12.5"]);
    person.json(&["key", "create", "large", "--usd", "1250", "--usd-per-day", "10", "--usd-per-week", "none"]);
    let table = person.stdout(&["key", "list", "--sort", "id", "--ascending"]);
    let columns = |line: usize| table.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(columns(0), ["ID", "NAME", "KEY", "STATE", "REMAINING", "USED", "EXPIRES"]);
    assert_eq!(columns(1)[4..], ["$0.000002", "$0.00", "never"]);
    assert_eq!(columns(2)[4..], ["$1250.00", "$0.00", "never"]);
    let ends = |line: usize, text: &str| table.lines().nth(line).unwrap().find(text).unwrap() + text.len();
    assert_eq!([ends(1, "$0.000002"), ends(2, "$1250.00")], [ends(0, "REMAINING"); 2], "{table}");

    let small = person.json(&["key", "show", "small"]);
    assert_eq!(small["period_limits"], json!({ "day": 100, "week": -1, "month": 6_250_000 }));
    let large = person.json(&["key", "show", "large"]);
    assert_eq!(large["period_limits"], json!({ "day": 5_000_000, "week": -1, "month": -1 }));
    assert_eq!(large["remain_quota"], 625_000_000);
    let facts = person.stdout(&["key", "show", "small"]);
    assert!(facts.contains("period limits  $0.0002 a day, $12.50 a month\n"), "{facts}");
    person.json(&["key", "update", "small", "--usd-per-month", "none"]);
    assert_eq!(person.json(&["key", "show", "small"])["period_limits"]["month"], -1);
    person.json(&["user", "update", "root", "--usd-per-day", "3"]);
    assert_eq!(person.json(&["user", "show", "root"])["period_limits"]["day"], 1_500_000);
}

#[tokio::test]
async fn all_keys_that_a_list_shows_are_changed_and_what_is_not_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    for name in ["trial 1", "trial 2", "ci"] {
        person.json(&["key", "create", name, "--unlimited"]);
    }
    let trials = ["key", "update-all", "--search", "trial", "--usd-per-day", "1"];
    let unasked = "there is no terminal to ask \"change 2 keys? [y/N]\"; use --yes".to_owned();
    assert_eq!(refusal_of(&person.run(&trials)), (2, unasked));
    assert_eq!(said_by(&person.run(&[&trials[..], &["--yes"]].concat())), "changed 2 keys");
    let days = |person: &Person| -> Vec<Value> {
        let keys = person.json(&["key", "list", "--sort", "id", "--ascending"]);
        keys.as_array().unwrap().iter().map(|key| key["period_limits"]["day"].clone()).collect()
    };
    assert_eq!(days(&person), [500_000, 500_000, -1]);

    let of_root = ["key", "update-all", "--everyone", "--user", "root", "--disable", "--yes"];
    assert_eq!(said_by(&person.run(&of_root)), "changed 3 keys");
    let working = ["key", "update-all", "--everyone", "--state", "working", "--disable", "--yes"];
    assert_eq!(said_by(&person.run(&working)), "no such keys");
    let refused = person.run(&["key", "update-all", "--everyone", "--group", "gold", "--yes"]);
    let reason = "changed:\n  root: `--group` must be empty, `auto`, or one of: default\n";
    assert!(refused.status.code() == Some(1) && stderr_of(&refused).ends_with(reason), "{}", stderr_of(&refused));
    assert_eq!(refusal_of(&person.run(&["key", "update-all", "--yes"])).0, 2);
}

#[tokio::test]
async fn errors_name_the_option_as_it_was_typed_and_unknown_values_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    person.json(&["key", "create", "ci", "--unlimited"]);
    let too_much = "600000000000000";
    for (arguments, start) in [
        (&["key", "update", "ci", "--per-day", too_much][..], "`--per-day` must be a whole number from 0 to "),
        (&["user", "update", "root", "--per-week", too_much], "`--per-week` must be a whole number from 0 to "),
        (&["key", "update", "ci", "--group", "gold"], "`--group` must be empty, `auto`, or one of: "),
        (&["key", "update", "ci", "--addresses", "home"], "`--addresses` contains \"home\""),
        (&["key", "list", "--group", "gold"], "`--group` must be `own`, `auto`, or one of: "),
        (&["audit", "list", "--from", "yesterday"], "`--from` must be a date of the calendar"),
        (&["usage", "report", "--from", "2027-02-02", "--to", "2027-02-01"], "`--from` is after `--to`"),
        (&["usage", "report", "--by", "user"], "`--by` must be "),
    ] {
        let (code, message) = person.refusal(arguments);
        assert!(code == 1 && message.starts_with(start), "{arguments:?}: {code} {message}");
    }
    let (_, message) = person.refusal(&["key", "update", "ci", "--per-day", too_much]);
    assert!(message.contains(", or none for no limit"), "{message}");

    for (arguments, known) in [
        (&["key", "list", "--sort", "age"][..], "remain_quota"),
        (&["key", "list", "--state", "broken"], "account_limit_reached"),
        (&["key", "list", "--status", "working"], "exhausted"),
        (&["user", "list", "--sort", "age"], "used_quota"),
        (&["audit", "list", "--action", "token.lost"], "token.rotated"),
        (&["audit", "list", "--subject-kind", "house"], "token_api_request"),
        (&["usage", "requests", "--outcome", "lost"], "imported"),
        (&["usage", "report", "--by", "colour"], "gateway"),
        (&["key", "create", "x", "--unlimited", "--per-day", "1", "--usd-per-day", "1"], "--per-day"),
    ] {
        let refused = person.run(arguments);
        let said = stderr_of(&refused);
        // Nothing was sent anywhere.
        assert!(refused.status.code() == Some(2) && said.starts_with("error: ") && said.contains(known), "{said}");
    }
    // Root's wallet is empty.
    assert_eq!(person.json(&["key", "list", "--state", "account_empty"])[0]["name"], "ci");
    assert_eq!(person.json(&["audit", "list", "--subject-kind", "key"])[0]["subject_kind"], "token");
    assert_eq!(person.json(&["audit", "list", "--subject-kind", "token"])[0]["subject_name"], Value::from("ci"));
}

#[tokio::test]
async fn lists_are_printed_as_csv_and_with_some_fields() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    assert_eq!(person.stdout(&["key", "list", "--csv"]), "");
    assert_eq!(person.stdout(&["key", "list", "--csv", "--fields", "id,name"]), "id,name\n");
    person.json(&["key", "create", "a \"b\", c", "--usd", "1", "--per-day", "7"]);
    let id = person.json(&["key", "create", "=ci", "--usd", "2"])["id"].clone();

    let fields = ["key", "list", "--fields", "name,period_limits.day,remain_quota"];
    let csv = person.stdout(&[&fields[..], &["--csv"]].concat());
    assert_eq!(
        csv, "name,period_limits.day,remain_quota\n'=ci,-1,1000000\n\"a \"\"b\"\", c\",7,500000\n",
        "what a spreadsheet would compute is text"
    );
    assert_eq!(person.json(&fields)[0], json!({ "name": "=ci", "period_limits.day": -1, "remain_quota": 1_000_000 }));
    let table = person.stdout(&fields);
    assert!(table.starts_with("NAME      PERIOD_LIMITS.DAY  REMAIN_QUOTA\n=ci       -1 "), "{table}");
    // All fields, in the order of the server.
    let csv = person.stdout(&["key", "list", "--csv"]);
    assert!(csv.starts_with("id,user_id,key,masked_key,") && csv.lines().count() == 3, "{csv}");
    let unknown = person.run(&["key", "list", "--csv", "--fields", "id,colour"]);
    assert!(stderr_of(&unknown).contains("nothing here has the field `colour`; there are: id, user_id, key"));
    assert!(stdout_of(&unknown).starts_with(&format!("id,colour\n{id},\n")));

    assert_eq!(person.stdout(&["user", "list", "--csv", "--fields", "username,role"]), "username,role\nroot,100\n");
    let report = person.stdout(&["usage", "report", "--since", "0s", "--csv", "--fields", "requests,quota"]);
    assert_eq!(report, "requests,quota\n0,0\n");
    person.json(&["gateway", "create", "edge"]);
    assert_eq!(person.stdout(&["gateway", "list", "--csv", "--fields", "name"]), "name\nedge\n");
    assert_eq!(refusal_of(&Person::new().run(&["gateway", "list", "--csv"])).0, 2);
    assert_eq!(person.run(&["key", "list", "--csv", "--json"]).status.code(), Some(2));

    let actions = person.stdout(&["audit", "list", "--since", "1h", "--csv", "--fields", "action"]);
    assert!(actions.starts_with("action\n") && actions.contains("\ntoken.created\n"), "{actions}");

    let everyone = person.stdout(&["key", "list", "--everyone", "--user", "root"]);
    assert!(everyone.starts_with("ID  OWNER  NAME") && everyone.contains("  root   =ci"), "{everyone}");
    let found = person.json(&["key", "find", "=c"]);
    assert_eq!((&found[0]["id"], found.as_array().unwrap().len()), (&id, 1));
    let masked = found[0]["masked_key"].as_str().unwrap();
    for arguments in [&["key", "find", masked][..], &["key", "find", masked, "--everyone"]] {
        assert_eq!(person.json(arguments)[0]["id"], id, "{arguments:?}");
    }
    let key = person.stdout(&["key", "reveal", "=ci"]);
    let by_key = person.run_with_input(&["key", "find", "-", "--json"], &key);
    assert_eq!(serde_json::from_str::<Value>(&stdout_of(&by_key)).unwrap()[0]["id"], id);
    assert_eq!(person.run(&["key", "find", key.trim_end()]).status.code(), Some(2));
    assert!(stderr_of(&person.run(&["key", "find", "nothing like it"])).ends_with("keymeter: no such keys\n"));
    assert_eq!(person.stdout(&["open", "key", "=ci"]), format!("{}/keys/{id}\n", server.base));
}

#[tokio::test]
async fn requests_are_listed_shown_and_followed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    person.stdout(&["user", "grant", "root", "--usd", "5"]);
    let key = person.stdout(&["key", "create", "ci", "--unlimited"]).trim_end().to_owned();
    let credential = person.json(&["gateway", "create", "edge"])["credential"].as_str().unwrap().to_owned();
    let gateway = Client::with(&server, &credential);
    let charge = async |id: &str, quota: i64| {
        gateway.post("/api/gateway/charge", json!({ "key": key, "quota": quota, "model": "m", "request_id": id })).await
    };
    charge("first", 1).await.ok();
    charge("too-much", 5_000_000).await.refuses(402, "user_quota_insufficient");
    // A refusal is written a moment after its answer.
    eventually("the refusal is listed", async || {
        person.json(&["request", "list", "--outcome", "refused"]).as_array().is_some_and(|refused| !refused.is_empty())
    })
    .await;

    let table = person.stdout(&["request", "list", "--since", "1h", "--outcome", "charged"]);
    assert!(table.lines().nth(1).unwrap().contains("  $0.000002  "), "{table}");
    assert_eq!(person.json(&["request", "list"]), person.json(&["usage", "requests"]));
    let csv = person.stdout(&["request", "list", "--csv", "--fields", "request_id,refusal.reason"]);
    let mut lines: Vec<&str> = csv.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["first,", "request_id,refusal.reason", "too-much,user_quota_insufficient"]);

    let request = person.json(&["request", "show", "first"]);
    let id = request["id"].as_str().unwrap();
    assert_eq!(person.json(&["request", "show", id, "--everyone"]), request);
    let facts = person.stdout(&["request", "show", id]);
    for fact in ["cost        $0.000002\n", "gateway     edge\n", "request id  first\n"] {
        assert!(facts.contains(fact), "{facts}");
    }
    assert!(person.stdout(&["request", "show", "too-much"]).contains("\nasked for        $10.00\n"));
    let unknown = "there is no request with the id \"second\"";
    assert_eq!(person.refusal(&["request", "show", "second"]), (4, unknown.to_owned()));

    let compared = person.json(&["usage", "report", "--compare"]);
    assert_eq!((&compared["group_by"], &compared["total"]["change"]["quota"]), (&json!(["token"]), &json!(1)));
    assert!(compared["compare_to"].as_str().unwrap() < compared["from"].as_str().unwrap(), "{compared}");
    let table = person.stdout(&["usage", "report", "--since", "1d", "--compare", "--by", "model"]);
    let columns = |line: usize| table.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(columns(0), ["MODEL", "REQUESTS", "COST", "BEFORE", "CHANGE"]);
    assert_eq!(columns(1), ["m", "1", "$0.000002", "$0.00", "+$0.000002"]);
    let (code, message) = person.refusal(&["usage", "report", "--compare", "--by", "day"]);
    assert_eq!((code, message.contains("cannot be compared")), (1, true), "{message}");
    assert_eq!(person.refusal(&["usage", "report", "--compare", "--from", "yesterday"]).0, 2);

    let home = person.home.path().to_str().unwrap();
    let settings: Vec<_> = person.environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut tail = keymeter(person.home.path(), &[&settings[..], &[("HOME", home)]].concat());
    tail.args(["request", "tail", "--outcome", "charged", "--interval", "1", "--json"]);
    let mut tail = tail.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let (seen, lines) = tokio::task::spawn_blocking(move || next_id(lines)).await.unwrap();
    assert_eq!(seen, "first");
    charge("second", 1).await.ok();
    let (seen, _) = tokio::task::spawn_blocking(move || next_id(lines)).await.unwrap();
    assert_eq!(seen, "second", "and not the first again");
    tail.kill().unwrap();
    tail.wait().unwrap();
}

/// The gateway's id of the request in the next line.
fn next_id<Lines: Iterator<Item = std::io::Result<String>>>(mut lines: Lines) -> (String, Lines) {
    let request: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    (request["request_id"].as_str().unwrap().to_owned(), lines)
}

#[tokio::test]
async fn enablement_sessions_and_access_tokens_are_managed_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    for name in ["ana", "ben"] {
        stdout_of(&person.run_with_input(&["user", "create", name, "--password-stdin"], "a long password"));
        let user = Client::signed_in(&server, name, "a long password").await;
        user.post("/api/user/token_api_request", json!({ "reason": "to try" })).await.ok();
    }
    let table = person.stdout(&["enablement", "list", "--state", "pending"]);
    assert!(table.starts_with("ID  USER  STATE    ASKED") && table.lines().count() == 3, "{table}");
    assert_eq!(person.json(&["enablement", "approve", "ana", "--note", "welcome"])["state"], "approved");
    let unknown = "there is no pending request named \"ana\"; `keymeter enablement list` shows them";
    assert_eq!(person.refusal(&["enablement", "refuse", "ana"]), (4, unknown.to_owned()));
    let id = person.json(&["enablement", "list", "--state", "pending"])[0]["id"].to_string();
    assert_eq!(person.json(&["enablement", "refuse", &id])["username"], "ben");
    assert_eq!(person.refusal(&["enablement", "approve", &id]).0, 5);

    let made = person.run(&["access-token", "create", "backup", "--expires", "30d"]);
    let token = stdout_of(&made).trim_end().to_owned();
    assert!(token.starts_with("kma_") && !token.contains(char::is_whitespace), "{token}");
    assert!(!stderr_of(&made).contains(&token));
    let own = Client::with(&server, &token);
    own.get("/api/user/self").await.ok();
    let table = person.stdout(&["access-token", "list"]);
    assert!(table.contains("backup") && !table.contains(&token), "{table}");
    let (code, message) = person.refusal(&["access-token", "revoke", "backup"]);
    assert_eq!((code, message.ends_with("; use --yes")), (2, true), "{message}");
    person.stdout(&["access-token", "revoke", "backup", "--yes"]);
    own.get("/api/user/self").await.refuses(401, "invalid_credential");

    let session = Client::signed_in(&server, "root", crate::harness::ROOT_PASSWORD).await;
    let sessions = person.json(&["session", "list"]);
    let newest = sessions.as_array().unwrap().iter().filter_map(|session| session["id"].as_i64()).max().unwrap();
    person.stdout(&["session", "end", &newest.to_string(), "--yes"]);
    session.get("/api/user/self").await.refuses(401, "not_signed_in");
    assert_eq!(person.run(&["session", "end", "--yes"]).status.code(), Some(2));
    assert_eq!(person.refusal(&["session", "end", "--all"]).0, 2);
    person.stdout(&["session", "end", "--all", "--yes"]);
    assert_eq!(person.json(&["session", "list"]), json!([]));
}

#[tokio::test]
async fn many_wallets_are_topped_up_from_a_file_all_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]).await;
    let person = Person::root(&server).await;
    for name in ["ana", "ben"] {
        stdout_of(&person.run_with_input(&["user", "create", name, "--password-stdin"], "a long password"));
    }
    let file = dir.path().join("top-ups.csv");
    std::fs::write(&file, "user,usd,note\nana,2.50,March\nben,1,\n").unwrap();
    let grant = ["user", "grant", "--file", file.to_str().unwrap()];
    let wallet = |name: &str| person.json(&["user", "show", name])["quota"].clone();

    let table = person.stdout(&[&grant[..], &["--dry-run"]].concat());
    assert_eq!(table, "USER  BEFORE  AFTER\nana    $0.00  $2.50\nben    $0.00  $1.00\n");
    assert_eq!(wallet("ana"), 0);
    let changed = person.json(&grant);
    assert_eq!(changed["users"].as_array().unwrap().len(), 2);
    assert_eq!([wallet("ana"), wallet("ben")], [json!(1_250_000), json!(500_000)]);
    // The answer has what takes it back.
    let undo = changed["undo"].to_string();
    person.run_with_input(&["api", "POST", "/api/admin/users/bulk", "--data", "@-"], &undo);
    assert_eq!([wallet("ana"), wallet("ben")], [json!(0), json!(0)]);

    let wrong = person.run_with_input(&["user", "grant", "--file", "-"], "ana,1\nnobody,1\n");
    assert_ne!(wrong.status.code(), Some(0));
    assert_eq!(wallet("ana"), 0);
    for wrong in
        [&["user", "grant", "ana"][..], &["user", "grant", "--usd", "1"], &["user", "grant", "--dry-run", "ana"]]
    {
        assert_eq!(person.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(person.run(&[&grant[..], &["--usd", "1"]].concat()).status.code(), Some(2));
}
