//! Several servers: the logins of profiles, and which of them a command uses.

use std::os::unix::fs::PermissionsExt;

use crate::command_line::{Person, refusal_of, stderr_of};
use crate::harness::client::access_token_of_root;
use crate::harness::{Client, ROOT_PASSWORD, Server};

const LOGIN: [&str; 4] = ["login", "--username", "root", "--password-stdin"];

#[tokio::test]
async fn a_profile_has_a_server_and_the_token_for_it() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = Server::start(one.path(), &[]).await;
    let second = Server::start(two.path(), &[]).await;
    let mut person = Person::new();
    let login = |person: &Person, options: &[&str]| {
        let output = person.run_with_input(&[&LOGIN, options].concat(), ROOT_PASSWORD);
        assert!(output.status.success(), "{}", stderr_of(&output));
    };
    login(&person, &["--server", &first.base]);
    login(&person, &["--server", &second.base, "--profile", "test"]);
    let mode = std::fs::metadata(person.login_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    person.stdout(&["key", "create", "on the first", "--unlimited"]);
    person.stdout(&["key", "create", "on the second", "--unlimited", "--profile", "test"]);
    let names = |person: &Person, options: &[&str]| {
        person.stdout(&[&["key", "list", "--csv", "--fields", "name"], options].concat())
    };
    assert_eq!(names(&person, &[]), "name\non the first\n");
    assert_eq!(names(&person, &["--profile", "default"]), "name\non the first\n");
    let output = person.run(&["key", "list", "--profile", "test"]);
    assert!(stderr_of(&output).starts_with(&format!("keymeter: on {} as root (profile test)\n", second.base)));

    // A variable names the profile too. An option comes before all variables, and its token goes nowhere else.
    person.environment.push(("KEYMETER_PROFILE", "test".to_owned()));
    assert_eq!(names(&person, &[]), "name\non the second\n");
    person.environment.push(("KEYMETER_URL", first.base.clone()));
    assert_eq!(person.refusal(&["key", "list"]).0, 3, "the token is not of that server");
    assert_eq!(names(&person, &["--profile", "test"]), "name\non the second\n");
    person.environment.push(("KEYMETER_ACCESS_TOKEN", access_token_of_root(&first).await));
    assert_eq!(names(&person, &[]), "name\non the first\n");
    assert_eq!(names(&person, &["--profile", "test"]), "name\non the second\n");
    assert_eq!(person.refusal(&["key", "list", "--profile", "test", "--server", &first.base]).0, 3);
    person.environment.clear();

    // Another login of the profile revokes the token before, and none of another profile.
    let stored = || std::fs::read_to_string(person.login_file()).unwrap().parse::<toml::Table>().unwrap();
    let before = stored();
    login(&person, &["--server", &second.base, "--profile", "test"]);
    assert_eq!(before["access_token"], stored()["access_token"]);
    let former = before["profile"]["test"]["access_token"].as_str().unwrap();
    Client::with(&second, former).get("/api/user/self").await.refuses(401, "invalid_credential");

    let unknown = "there is no login named \"live\"; there are: default, test; sign in with `keymeter login --profile live \
                   --server https://keys.example.org`";
    assert_eq!(person.refusal(&["key", "list", "--profile", "live"]), (3, unknown.to_owned()));
    assert_eq!(refusal_of(&person.run(&["user", "list", "--profile", "live"])).0, 3, "not the local database");
    assert_eq!(person.run(&["key", "list", "--profile", "a b"]).status.code(), Some(2));

    person.run(&["logout", "--profile", "test"]);
    assert_eq!(person.refusal(&["key", "list", "--profile", "test"]).0, 3);
    assert_eq!(names(&person, &[]), "name\non the first\n");
    person.run(&["logout"]);
    assert!(!person.login_file().exists());
}
