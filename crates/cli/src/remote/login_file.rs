//! The login that `keymeter login` stores: one server and an access token, in a file that only its owner can read.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, fs};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::failure::{CommandFailure, exit};

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

/// The stored login, if there is one.
///
/// # Errors
/// The file cannot be used, or other accounts of this machine can read it.
pub fn read() -> Result<Option<Login>, CommandFailure> {
    // Without a home there is no login.
    let Ok(path) = path() else { return Ok(None) };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(format!("cannot read the login {}: {error}", path.display()).into()),
    };
    let mode = fs::metadata(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?.mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        let message = format!("others on this machine can read the login {path}; run: chmod 600 {path}");
        return Err(CommandFailure::new(exit::NOT_ALLOWED, message));
    }
    // The error of the parser would quote the line, which may be the token.
    let login = toml::from_str(&text).map_err(|_| {
        let sentence = format!("the login {} cannot be read; run `keymeter login` again", path.display());
        CommandFailure::new(exit::NOT_ALLOWED, sentence)
    })?;
    Ok(Some(login))
}

/// The stored login that another one replaces, also if others can read it: all the more its access token must be
/// revoked.
pub fn find_former() -> Option<Login> {
    toml::from_str(&fs::read_to_string(path().ok()?).ok()?).ok()
}

/// Stores a login instead of the one before. The file appears as a whole or not at all.
pub fn write(login: &Login) -> Result<PathBuf, CommandFailure> {
    let path = path()?;
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let stored = store(login, &path, directory);
    stored.map_err(|error| format!("cannot store the login {}: {error}", path.display()))?;
    Ok(path)
}

fn store(login: &Login, path: &Path, directory: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // Its mode is 0600 from the start.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text_of(login).as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn text_of(login: &Login) -> String {
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
    format!("# Written by `keymeter login`. The access token is a secret.\n{table}")
}

/// Removes the stored login.
pub fn remove() -> Result<(), CommandFailure> {
    let path = path()?;
    fs::remove_file(&path).map_err(|error| format!("cannot remove the login {}: {error}", path.display()).into())
}
