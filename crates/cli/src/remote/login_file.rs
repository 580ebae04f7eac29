//! The logins that `keymeter login` stores: each a server and an access token, in a file that only its owner can read.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, fs};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::failure::{CommandFailure, exit};

/// The profile of the login that has no name.
pub const DEFAULT_PROFILE: &str = "default";

/// The table of the file that has the other profiles.
const PROFILES: &str = "profile";

/// Logins by the names of their profiles.
pub type Logins = BTreeMap<String, Login>;

/// Reads the name of a profile.
pub fn profile_arg(text: &str) -> Result<String, String> {
    let is_name = (1..=50).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_name { Ok(text.to_owned()) } else { Err("a profile has 1 to 50 letters, digits, - and _".to_owned()) }
}

/// What `keymeter login` stores.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    pub server: String,
    pub username: String,
    pub access_token: SecretString,
    /// The id of an access token that `keymeter login` made and `keymeter logout` revokes; absent for a token that was
    /// given to it.
    pub access_token_id: Option<i64>,
    /// When the token expires, in Unix seconds, if `keymeter login` made it.
    pub expires_at: Option<i64>,
    /// Whether the server may be spoken to without encryption.
    #[serde(default)]
    pub insecure_http: bool,
}

/// The path of the file.
pub fn path() -> Result<PathBuf, CommandFailure> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("keymeter/login.toml")).ok_or_else(|| {
        CommandFailure::new(
            exit::USAGE,
            "there is no place for a login: set HOME or XDG_CONFIG_HOME to an absolute path",
        )
    })
}

/// The stored logins.
///
/// # Errors
/// The file cannot be used, or other accounts of this machine can read it.
pub fn read() -> Result<Logins, CommandFailure> {
    // Without a home there is no login.
    let Ok(path) = path() else { return Ok(Logins::new()) };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Logins::new());
        }
        Err(error) => return Err(format!("cannot read the login {}: {error}", path.display()).into()),
    };
    let mode = fs::metadata(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?.mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        let message = format!("others on this machine can read the login {path}; run: chmod 600 {path}");
        return Err(CommandFailure::new(exit::NOT_ALLOWED, message));
    }
    // The error of the parser would quote the line, which may be the token.
    parse(&text).ok_or_else(|| {
        let sentence = format!("the login {} cannot be read; run `keymeter login` again", path.display());
        CommandFailure::new(exit::NOT_ALLOWED, sentence)
    })
}

/// The login without a name has its fields at the top of the file, where older versions have the only one.
fn parse(text: &str) -> Option<Logins> {
    let mut table: toml::Table = text.parse().ok()?;
    let named: Logins = table.remove(PROFILES).map_or(Some(Logins::new()), |named| named.try_into().ok())?;
    let unnamed: Option<Login> = if table.is_empty() { None } else { Some(table.try_into().ok()?) };
    Some(named.into_iter().chain(unnamed.map(|login| (DEFAULT_PROFILE.to_owned(), login))).collect())
}

/// The stored logins, also if others can read them: all the more the access token of one that is replaced must be
/// revoked.
pub fn find_former() -> Logins {
    let text = path().ok().and_then(|path| fs::read_to_string(path).ok());
    text.and_then(|text| parse(&text)).unwrap_or_default()
}

/// Stores logins instead of those before. The file appears as a whole or not at all.
pub fn write(logins: &Logins) -> Result<PathBuf, CommandFailure> {
    let path = path()?;
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let stored = store(logins, &path, directory);
    stored.map_err(|error| format!("cannot store the login {}: {error}", path.display()))?;
    Ok(path)
}

fn store(logins: &Logins, path: &Path, directory: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // Its mode is 0600 from the start.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text_of(logins).as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn text_of(logins: &Logins) -> String {
    let mut unnamed = toml::Table::new();
    let mut named = toml::Table::new();
    for (profile, login) in logins {
        if profile == DEFAULT_PROFILE {
            unnamed = table_of(login);
        } else {
            named.insert(profile.clone(), table_of(login).into());
        }
    }
    if !named.is_empty() {
        unnamed.insert(PROFILES.to_owned(), named.into());
    }
    format!("# Written by `keymeter login`. The access tokens are secrets.\n{unnamed}")
}

fn table_of(login: &Login) -> toml::Table {
    let mut table = toml::Table::new();
    table.insert("server".into(), login.server.clone().into());
    table.insert("username".into(), login.username.clone().into());
    table.insert("access_token".into(), login.access_token.expose_secret().into());
    if let Some(id) = login.access_token_id {
        table.insert("access_token_id".into(), id.into());
    }
    if let Some(at) = login.expires_at {
        table.insert("expires_at".into(), at.into());
    }
    table.insert("insecure_http".into(), login.insecure_http.into());
    table
}

/// Removes a stored login, and the file with the last one.
pub fn remove(profile: &str) -> Result<(), CommandFailure> {
    let mut logins = read()?;
    logins.remove(profile);
    if !logins.is_empty() {
        return write(&logins).map(drop);
    }
    let path = path()?;
    fs::remove_file(&path).map_err(|error| format!("cannot remove the login {}: {error}", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_older_version_has_the_login_without_a_name() {
        let older = "server = \"https://a.example\"\nusername = \"ana\"\naccess_token = \"kma_1\"\n";
        let mut logins = parse(older).unwrap();
        assert_eq!(logins[DEFAULT_PROFILE].server, "https://a.example");

        let mut work = parse(&older.replace("a.example", "b.example")).unwrap();
        logins.insert("work".to_owned(), work.remove(DEFAULT_PROFILE).unwrap());
        let read = parse(&text_of(&logins)).unwrap();
        let servers: Vec<_> = read.iter().map(|(profile, login)| (profile.as_str(), login.server.as_str())).collect();
        assert_eq!(servers, [("default", "https://a.example"), ("work", "https://b.example")]);

        logins.remove(DEFAULT_PROFILE);
        assert_eq!(parse(&text_of(&logins)).unwrap().into_keys().collect::<Vec<_>>(), ["work"]);
        assert!(parse("").unwrap().is_empty());
        for wrong in ["server = 1", "[profile.x]\nserver = \"a\"", "profile = 1", "x"] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn names_of_profiles_are_plain() {
        assert!(profile_arg("work-2").is_ok());
        for wrong in ["", "a b", "a.b", "\u{e9}"] {
            assert!(profile_arg(wrong).is_err(), "{wrong}");
        }
    }
}
