//! The master key and the data directory that keeps it.

use std::io::Write;
use std::path::Path;

use secrecy::ExposeSecret;
use zeroize::Zeroizing;

use super::StartError;
use super::private_postgres::LOG_FILE;
use crate::config::Config;
use crate::service::rng::Rng;
use crate::service::vault::MasterKey;

/// The file in the data directory.
pub(super) const MASTER_KEY_FILE: &str = "master.key";

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

/// Creates the data directory with this mode if it is absent, and takes other rights away. A shared directory, such as a
/// volume that an orchestrator mounts for a group, keeps its mode, with a warning; the secrets in it are private in any case.
pub(super) fn make_private(data_dir: &Path, mode_of_dir: u32) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(mode_of_dir).create(data_dir)?;
    let mode = |path: &Path| std::fs::metadata(path).map(|found| found.permissions().mode());
    let close = |path: &Path, to: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(to));
    if mode_of_dir & 0o011 != 0 && mode(data_dir)? & 0o011 != 0o011 {
        // Another account passes through it, whatever the umask and earlier starts say.
        close(data_dir, mode_of_dir)?;
    }
    let found = mode(data_dir)?;
    if found & 0o077 & !mode_of_dir != 0 {
        // The sticky bit marks a directory that is meant to be shared, such as /tmp.
        let is_shared = found & 0o1000 != 0;
        if !is_shared && close(data_dir, mode_of_dir).is_ok() {
            tracing::warn!("the data directory was open to other users; it is closed to them now");
        } else {
            tracing::warn!(
                directory = %data_dir.display(),
                "the data directory is shared with other users and stays so; name one of its own (KEYMETER_DATA_DIR)"
            );
        }
    }
    for name in [MASTER_KEY_FILE, super::demo::PASSWORD_FILE, LOG_FILE] {
        let path = data_dir.join(name);
        if mode(&path).is_ok_and(|mode| mode & 0o077 != 0) {
            close(&path, 0o600)?;
        }
    }
    Ok(())
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
        let mut draft = tempfile::Builder::new().prefix(MASTER_KEY_FILE).tempfile_in(directory)?;
        writeln!(draft, "{}", *key.to_hex())?;
        draft.as_file().sync_all()?;
        draft.persist_noclobber(file).map_err(|error| error.error)?;
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
