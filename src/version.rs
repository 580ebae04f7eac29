//! The version of this program.

/// As people see it: `0.1.0`, or in a release `0.1.0 (1a2b3c4d5e6f, 2026-11-23)` with its commit and the day of that.
///
/// `scripts/release.sh` sets `KEYMETER_VERSION`. A build without it does not look at git: it would change with each
/// commit, and an archive of the sources has none.
pub const VERSION: &str = match option_env!("KEYMETER_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The commit that this program was built from; `None` but in a release.
pub fn commit() -> Option<&'static str> {
    VERSION.split_once(" (").and_then(|(_, built)| built.split_once(',')).map(|(commit, _)| commit)
}
