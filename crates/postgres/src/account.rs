//! The account that PostgreSQL runs as: that of this process, or another one if this process is root, which PostgreSQL
//! refuses to be.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::errno::Errno;
use nix::unistd::{Gid, Uid, User, setgid, setuid};

use super::PrivateError;

/// The accounts to run as, if this process is root and nobody else owns the data: that of the set-up, then the one that
/// packages of PostgreSQL create.
const NAMES: [&str; 2] = ["keymeter", "postgres"];

/// Owns nothing on purpose, so that it must not own a database.
const NOBODY: &str = "nobody";

#[derive(Debug, Clone)]
pub struct OsUser {
    pub name: String,
    uid: Uid,
    gid: Gid,
    /// This process is root, and PostgreSQL gets this account instead.
    pub is_other: bool,
}

impl OsUser {
    /// # Errors
    /// There is none, or it has no name.
    pub fn choose(data_dir: &Path) -> Result<Self, PrivateError> {
        let own = Uid::effective();
        if !own.is_root() {
            return Ok(Self::of(find(own)?.ok_or(PrivateError::NamelessAccount(own.as_raw()))?, false));
        }
        if let Some(owner) = owner_of(&data_dir.join(super::CLUSTER))? {
            return Ok(Self::of(owner, true));
        }
        let named = NAMES.iter().find_map(|name| User::from_name(name).ok().flatten());
        Ok(Self::of(named.ok_or(PrivateError::NoAccount)?, true))
    }

    /// If this process is root and the data directory belongs to somebody else, becomes that account: root would follow
    /// links that the owner puts there, and leave files that the owner cannot use. Must be called before threads are
    /// started.
    ///
    /// # Errors
    /// The owner has no name, or the system refuses.
    pub fn become_owner(data_dir: &Path) -> Result<(), PrivateError> {
        if !Uid::effective().is_root() {
            return Ok(());
        }
        let Some(owner) = owner_of(data_dir)? else { return Ok(()) };
        tracing::info!(account = owner.name, "the data directory belongs to this account; going on as it");
        let refused = |error: Errno| PrivateError::Accounts(error.into());
        #[cfg(target_os = "linux")]
        nix::unistd::setgroups(&[owner.gid]).map_err(refused)?;
        setgid(owner.gid).map_err(refused)?;
        setuid(owner.uid).map_err(refused)
    }

    fn of(user: User, is_other: bool) -> Self {
        Self { name: user.name, uid: user.uid, gid: user.gid, is_other }
    }

    /// Makes it the owner of `path`.
    pub fn own(&self, path: &Path) -> std::io::Result<()> {
        if self.is_other {
            std::os::unix::fs::chown(path, Some(self.uid.as_raw()), Some(self.gid.as_raw()))?;
        }
        Ok(())
    }

    /// Whether it owns what was found.
    pub fn is_owner(&self, found: &fs::Metadata) -> bool {
        found.uid() == self.uid.as_raw()
    }

    /// A command of this account. Nothing of the caller's environment reaches it: `PG*` would change where PostgreSQL
    /// looks for what, `LD_PRELOAD` what it does. A group of its own keeps Ctrl-C for this process.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("LC_ALL", "C").current_dir("/").process_group(0);
        if self.is_other {
            command.uid(self.uid.as_raw()).gid(self.gid.as_raw());
        }
        command
    }

    /// The first directory on the way to `path`, an absolute path, that keeps this account out.
    pub fn barrier(&self, path: &Path) -> Option<PathBuf> {
        if !self.is_other {
            return None;
        }
        let mut ways: Vec<_> = path.ancestors().collect();
        ways.reverse();
        ways.into_iter().find(|way| fs::metadata(way).is_ok_and(|found| !self.may_enter(&found))).map(Path::to_owned)
    }

    fn may_enter(&self, directory: &fs::Metadata) -> bool {
        let bit = if self.is_owner(directory) {
            0o100
        } else if directory.gid() == self.gid.as_raw() {
            0o010
        } else {
            0o001
        };
        directory.mode() & bit != 0
    }
}

fn find(uid: Uid) -> Result<Option<User>, PrivateError> {
    User::from_uid(uid).map_err(|error| PrivateError::Accounts(error.into()))
}

/// The owner, unless that is root or `nobody`, or there is no such path.
fn owner_of(path: &Path) -> Result<Option<User>, PrivateError> {
    let owner = fs::metadata(path).ok().map(|found| Uid::from_raw(found.uid())).filter(|uid| !uid.is_root());
    let Some(owner) = owner else { return Ok(None) };
    let user = find(owner)?.ok_or(PrivateError::NamelessAccount(owner.as_raw()))?;
    Ok(Some(user).filter(|user| user.name != NOBODY))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn account(is_other: bool) -> OsUser {
        let stranger = 4_000_000;
        OsUser { name: "x".into(), uid: Uid::from_raw(stranger), gid: Gid::from_raw(stranger), is_other }
    }

    #[test]
    fn a_closed_directory_on_the_way_keeps_another_account_out() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("open/data");
        fs::create_dir_all(&below).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(account(true).barrier(&below), Some(dir.path().to_owned()));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
        assert_eq!(account(true).barrier(&below), None);
        fs::set_permissions(&below, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(account(true).barrier(&below), Some(below.clone()));
        assert_eq!(account(false).barrier(&below), None);
    }
}
