//! The data directory and the files in it that nobody else may read.

use std::path::Path;

/// The master key, unless a setting holds it.
pub const MASTER_KEY_FILE: &str = "master.key";

/// The password of all users of the demo. Written when its data are complete.
pub const DEMO_PASSWORD_FILE: &str = "demo-password";

/// What the private PostgreSQL says.
pub const LOG_FILE: &str = "postgres.log";

/// Creates the data directory with this mode if it is absent, and takes other rights away. A shared directory, such as
/// a volume that an orchestrator mounts for a group, keeps its mode, with a warning; the secrets in it are private in
/// any case.
///
/// # Errors
/// The system refuses.
pub fn make_private(data_dir: &Path, mode_of_dir: u32) -> std::io::Result<()> {
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
    for name in [MASTER_KEY_FILE, DEMO_PASSWORD_FILE, LOG_FILE] {
        let path = data_dir.join(name);
        if mode(&path).is_ok_and(|mode| mode & 0o077 != 0) {
            close(&path, 0o600)?;
        }
    }
    Ok(())
}
