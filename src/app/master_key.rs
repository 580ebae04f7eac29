//! The master key, and the file in the data directory that keeps it.

use std::io::Write;
use std::path::{Path, PathBuf};

use keymeter_postgres::data_dir::{MASTER_KEY_FILE, make_private};
use secrecy::ExposeSecret;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use super::error::StartError;
use crate::config::Config;
use crate::service::rng::Rng;
use crate::service::vault::MasterKey;

/// The master key from the settings or from its file. `None` if there is none yet.
///
/// # Errors
/// The file cannot be read, or the text is not a master key.
pub fn find_master_key(config: &Config) -> Result<Option<MasterKey>, StartError> {
    if let Some(hex) = &config.secrets.master_key {
        let key = MasterKey::from_hex(hex.expose_secret());
        return key.map(Some).map_err(|error| StartError::Setting("secrets.master_key", error.to_string()));
    }
    read_master_key(&config.data_dir.join(MASTER_KEY_FILE))
}

fn read_master_key(file: &Path) -> Result<Option<MasterKey>, StartError> {
    match std::fs::read_to_string(file) {
        Ok(hex) => {
            let hex = Zeroizing::new(hex);
            MasterKey::from_hex(&hex).map(Some).map_err(|error| StartError::MasterKeyFile(file.to_owned(), error))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StartError::DataDir(file.to_owned(), error)),
    }
}

/// The new master key in a file that the operator made.
///
/// # Errors
/// The file is absent or cannot be read, or its text is not a master key.
pub fn read_new_master_key(file: &Path) -> Result<MasterKey, StartError> {
    match read_master_key(file) {
        Ok(Some(key)) => Ok(key),
        Ok(None) => Err(StartError::NewMasterKey(file.to_owned(), std::io::ErrorKind::NotFound.into())),
        Err(StartError::DataDir(file, error)) => Err(StartError::NewMasterKey(file, error)),
        Err(error) => Err(error),
    }
}

/// Writes another master key to its file in the data directory, durably, if the settings have none. After a crash there
/// is the old one or the new one. The old one stays beside it: backups from before need it. Returns the file of the old
/// one; `None` if nothing was replaced.
///
/// # Errors
/// The file cannot be written.
pub fn replace_master_key(config: &Config, key: &MasterKey) -> Result<Option<PathBuf>, StartError> {
    if config.secrets.master_key.is_some() {
        return Ok(None);
    }
    let (directory, file) = (&config.data_dir, config.data_dir.join(MASTER_KEY_FILE));
    let Some(old) = read_master_key(&file)?.filter(|old| old.check() != key.check()) else {
        return Ok(None);
    };
    let kept = directory.join(format!("{MASTER_KEY_FILE}.{}", hex::encode(&old.check()[..4])));
    let write = || -> std::io::Result<()> {
        match std::fs::hard_link(&file, &kept) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        draft_of(key, directory)?.persist(&file).map_err(|error| error.error)?;
        std::fs::File::open(directory)?.sync_all()
    };
    write().map_err(|error| StartError::DataDir(file.clone(), error))?;
    Ok(Some(kept))
}

/// A complete file in this directory, private to this user, that has no name to rely on yet.
fn draft_of(key: &MasterKey, directory: &Path) -> std::io::Result<NamedTempFile> {
    let mut draft = tempfile::Builder::new().prefix(MASTER_KEY_FILE).tempfile_in(directory)?;
    writeln!(draft, "{}", *key.to_hex())?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// Generates a master key and writes it to its file, durably and private to this user, before anything depends on it.
pub(super) fn make_master_key(file: &Path) -> Result<MasterKey, StartError> {
    let key = Rng::system().generate(|rng| MasterKey::generate(rng));
    let write = || -> std::io::Result<()> {
        let directory = file.parent().unwrap_or(Path::new("."));
        if !directory.exists() {
            make_private(directory, 0o700)?;
        }
        // A link to a complete file: of two processes that do this at once, one gets an error, and nobody half a key.
        draft_of(&key, directory)?.persist_noclobber(file).map_err(|error| error.error)?;
        std::fs::File::open(directory)?.sync_all()
    };
    match write() {
        Ok(()) => Ok(key),
        // Another process was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            read_master_key(file)?.ok_or_else(|| StartError::DataDir(file.to_owned(), error))
        }
        Err(error) => Err(StartError::DataDir(file.to_owned(), error)),
    }
}
