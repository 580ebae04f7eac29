//! A MariaDB server of one test.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::process::free_port;
use super::proxy::installed_program;
use super::wait::eventually;

/// Killed and removed when dropped.
pub struct MariaDb {
    child: Child,
    home: tempfile::TempDir,
    port: u16,
}

/// A password with the characters that separate the parts of a DSN.
const PASSWORD: &str = "p@ss/w:rd";

impl MariaDb {
    /// Creates and starts it.
    pub async fn start() -> Self {
        let program = installed_program("mariadbd");
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let scripts =
            ["/usr/share/mysql", "/usr/share/mariadb"].map(PathBuf::from).into_iter().find(|dir| dir.is_dir()).unwrap();
        let mut sql = "create database mysql;\nuse mysql;\n".to_owned();
        for name in ["mysql_system_tables.sql", "mysql_system_tables_data.sql"] {
            sql += &std::fs::read_to_string(scripts.join(name)).unwrap();
        }
        let account = "insert into global_priv values ('%', 'moving', json_object('access', 18446744073709551615, \
                       'plugin', 'mysql_native_password', 'authentication_string', password('PASSWORD')));\n\
                       create database source character set utf8mb4;\n";
        sql += &account.replace("PASSWORD", PASSWORD);
        let script = home.path().join("bootstrap.sql");
        std::fs::write(&script, sql).unwrap();
        let log = std::fs::File::create(home.path().join("log")).unwrap();
        let run = |arguments: &[String]| {
            let mut command = Command::new(&program);
            command.args([
                "--no-defaults",
                "--user=root",
                "--innodb-buffer-pool-size=32M",
                "--innodb-flush-log-at-trx-commit=0",
            ]);
            command.arg(format!("--datadir={}", data.display()));
            // Servers of other tests use the same names for their temporary tables.
            command.arg(format!("--tmpdir={}", home.path().display())).args(arguments);
            command.stdout(log.try_clone().unwrap()).stderr(log.try_clone().unwrap());
            command
        };
        let mut bootstrap = run(&["--bootstrap".into()]);
        let done = bootstrap.stdin(std::fs::File::open(&script).unwrap()).status().unwrap();
        assert!(done.success(), "{}", std::fs::read_to_string(home.path().join("log")).unwrap());
        let port = free_port();
        let socket = home.path().join("socket");
        let mut serve = run(&[
            format!("--socket={}", socket.display()),
            format!("--port={port}"),
            "--bind-address=127.0.0.1".into(),
            "--skip-log-bin".into(),
        ]);
        let child = serve.stdin(Stdio::null()).spawn().unwrap();
        let server = Self { child, home, port };
        eventually("MariaDB listens", async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()).await;
        server
    }

    /// The `SQL_DSN` of the database `source`.
    pub fn dsn(&self) -> String {
        format!("moving:{PASSWORD}@tcp(127.0.0.1:{})/source?charset=utf8mb4&parseTime=True", self.port)
    }

    /// The same as a URL.
    pub fn url(&self) -> String {
        format!("mysql://moving:p%40ss%2Fw%3Ard@127.0.0.1:{}/source", self.port)
    }

    /// The same through its socket.
    pub fn socket_dsn(&self) -> String {
        format!("moving:{PASSWORD}@unix({})/source", self.home.path().join("socket").display())
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
