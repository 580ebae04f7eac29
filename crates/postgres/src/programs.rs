//! Finds PostgreSQL's programs on this machine.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::PrivateError;
use super::account::OsUser;

/// The oldest major version that works.
const OLDEST: u32 = 14;

/// What a server needs.
const NEEDED: [&str; 2] = ["postgres", "initdb"];

/// Where packages install each major version, in a directory of its own.
const VERSIONED: [(&str, &str); 4] = [
    ("/usr/lib/postgresql", "bin"),
    ("/usr/libexec/postgresql", ""),
    ("/opt/homebrew/opt", "bin"),
    ("/Library/PostgreSQL", "bin"),
];

/// Other known directories.
const OTHERS: [&str; 4] = ["/usr/pgsql/bin", "/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin"];

/// PostgreSQL's programs of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    pub directory: PathBuf,
    pub major: u32,
}

impl Programs {
    /// Finds programs: in `setting` alone, if it is set; else on the `PATH`, then in the known directories. Those of
    /// version `wanted`, which an existing cluster needs; else the newest ones.
    ///
    /// # Errors
    /// There are none, or none of this version.
    pub fn find(setting: Option<&Path>, wanted: Option<u32>, account: &OsUser) -> Result<Self, PrivateError> {
        let found: Vec<Self> = match setting {
            Some(directory) => {
                let named = Self::at(directory).ok_or_else(|| PrivateError::NoProgramsThere(directory.to_owned()))?;
                vec![named]
            }
            None => on_path().chain(known()).filter_map(|directory| Self::at(&directory)).collect(),
        };
        let versions = |found: &[Self]| {
            let mut majors: Vec<_> = found.iter().map(|programs| programs.major).collect();
            majors.sort_unstable();
            majors.dedup();
            majors.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        };
        let is_wanted = |programs: &&Self| wanted.is_none_or(|major| programs.major == major);
        // The first of several that are equal: a choice on the `PATH` counts.
        let newest = |may_run: &dyn Fn(&&Self) -> bool| {
            found.iter().rev().filter(is_wanted).filter(may_run).max_by_key(|programs| programs.major)
        };
        let within_reach = newest(&|programs| account.barrier(&programs.directory).is_none());
        match (within_reach.or_else(|| newest(&|_| true)), wanted) {
            (Some(programs), _) if programs.major < OLDEST => Err(PrivateError::TooOld(programs.clone())),
            (Some(programs), _) => match account.barrier(&programs.directory) {
                Some(barrier) => Err(PrivateError::ProgramsOutOfReach {
                    programs: programs.directory.clone(),
                    account: account.name.clone(),
                    barrier,
                }),
                None => Ok(programs.clone()),
            },
            (None, Some(wanted)) if !found.is_empty() => {
                Err(PrivateError::OtherVersion { wanted, found: versions(&found) })
            }
            (None, _) => Err(PrivateError::NoPrograms),
        }
    }

    fn at(directory: &Path) -> Option<Self> {
        // The `PATH` often has links, and the programs look for their files beside themselves.
        let postgres = directory.join(NEEDED[0]).canonicalize().ok()?;
        let directory = postgres.parent()?.to_owned();
        if !NEEDED.iter().all(|name| directory.join(name).is_file()) {
            return None;
        }
        let output = Command::new(postgres).arg("--version").env_clear().output().ok()?;
        Some(Self { directory, major: major(&String::from_utf8(output.stdout).ok()?)? })
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// The major version in the answer to `--version`, such as `postgres (PostgreSQL) 15.4 (Debian 15.4-1)`.
fn major(version: &str) -> Option<u32> {
    let number = version.split_once(") ")?.1;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn on_path() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|directory| directory.is_absolute()).collect::<Vec<_>>().into_iter()
}

fn known() -> impl Iterator<Item = PathBuf> {
    let versioned = VERSIONED.into_iter().flat_map(|(home, below)| {
        let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
        entries.map(move |entry| entry.path().join(below))
    });
    // Red Hat's packages: /usr/pgsql-17/bin.
    let pgsql = std::fs::read_dir("/usr").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_pgsql = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with("pgsql-"));
    let pgsql = pgsql.filter(move |path| path.file_name().is_some_and(is_pgsql)).map(|path| path.join("bin"));
    versioned.chain(pgsql).chain(OTHERS.into_iter().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_programs_print() {
        for (text, expected) in [
            ("postgres (PostgreSQL) 15.19 (Debian 15.19-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 18.4\n", Some(18)),
            ("postgres (PostgreSQL) 19beta1\n", Some(19)),
            ("postgres (PostgreSQL) \n", None),
            ("usage", None),
        ] {
            assert_eq!(major(text), expected, "{text}");
        }
    }
}
