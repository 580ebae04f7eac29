//! What lists and tables of the command line print, and what they refuse.

use serde_json::{Value, json};

use crate::command_line::{Person, stderr_of, stdout_of};
use crate::harness::Server;

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
    assert_eq!(person.json(&["key", "list", "--state", "working"])[0]["name"], "ci");
    assert_eq!(person.json(&["audit", "list", "--subject-kind", "key"])[0]["subject_kind"], "token");
    assert_eq!(person.json(&["audit", "list", "--subject-kind", "token"])[0]["subject_name"], Value::from("ci"));
}
