//! Only its owner can read the data directory, which has the private PostgreSQL and the master key.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sqlx::PgPool;

use crate::harness::Server;
use crate::harness::cluster::running_as_root;
use crate::harness::database::url;
use crate::harness::process::run;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn the_data_directory_is_created_for_its_owner_only_and_wider_permissions_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("made/on/the/way");
    let settings = [("KEYMETER_DATA_DIR", data.to_str().unwrap())];
    let mut server = Server::start(dir.path(), &settings).await;
    let modes = || {
        let files = ["pg", "run", "master.key", "postgres.log"].map(|name| mode(&data.join(name)));
        (mode(&data), files)
    };
    // As root, PostgreSQL runs as another account, which passes through the directory to its own.
    let of_directory = if running_as_root() { 0o711 } else { 0o700 };
    let expected = (of_directory, [0o700, 0o700, 0o600, 0o600]);
    assert_eq!(modes(), expected);
    assert_eq!(server.terminate(), Some(0));

    for name in ["", "master.key", "postgres.log"] {
        fs::set_permissions(data.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    let mut server = Server::start(dir.path(), &settings).await;
    assert_eq!(modes(), expected);
    assert_eq!(server.terminate(), Some(0));
    let output = server.output();
    assert!(output.contains("the data directory was open to other users"), "{output}");
}

#[sqlx::test(migrations = false)]
async fn a_data_directory_with_only_the_master_key_is_private_too(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let data = dir.path().join("data");
    let mut server = Server::start_with(dir.path(), &settings, &["--demo"]).await;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("master.key")), 0o600);
    assert_eq!(server.terminate(), Some(0));

    fs::set_permissions(&data, Permissions::from_mode(0o775)).unwrap();
    fs::set_permissions(data.join("master.key"), Permissions::from_mode(0o644)).unwrap();
    assert!(run(dir.path(), &settings, &["gateway", "list"]).status.success());
    assert_eq!((mode(&data), mode(&data.join("master.key"))), (0o700, 0o600));
}

#[sqlx::test(migrations = false)]
async fn a_shared_data_directory_is_unchanged_and_causes_a_warning(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o1777)).unwrap();
    let mut server = Server::start(dir.path(), &[("DATABASE_URL", database.as_str())]).await;
    assert_eq!(server.terminate(), Some(0));
    assert_eq!((mode(&data), mode(&data.join("master.key"))), (0o1777, 0o600));
    let output = server.output();
    assert!(output.contains("the data directory is shared with other users"), "{output}");
}
