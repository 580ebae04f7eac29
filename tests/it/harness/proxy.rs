//! Proxies in front of the service, with configurations from the documentation and `examples/`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::project::project;
use super::wait::eventually;

/// The proxies that tests start.
#[derive(Clone, Copy)]
pub enum Kind {
    Nginx,
    Caddy,
    Traefik,
    Envoy,
}

/// A running proxy. Killed when dropped.
pub struct Proxy(Child);

impl Proxy {
    /// Starts it and waits until it listens. Its output goes to a file in `dir`.
    pub async fn start(mut command: Command, dir: &Path, listen: SocketAddr) -> Self {
        let path = dir.join("proxy.log");
        let log = std::fs::File::create(&path).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let mut proxy = Self(command.spawn().unwrap());
        eventually("the proxy listens", async || {
            let exited = proxy.0.try_wait().unwrap().is_some();
            assert!(!exited, "the proxy exited: {}", std::fs::read_to_string(&path).unwrap());
            tokio::net::TcpStream::connect(listen).await.is_ok()
        })
        .await;
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The command that runs nginx with this configuration, whose `http` block gets paths in `dir`.
pub fn nginx(program: PathBuf, dir: &Path, config: &str) -> Command {
    let at = dir.display();
    let paths =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|name| format!("{name}_temp_path {at}/{name};"));
    let http = [("http {", format!("http {{ access_log off; {}", paths.join(" ")))];
    let file = dir.join("nginx.conf");
    std::fs::write(&file, adapted(config, &http)).unwrap();
    let globals = format!("daemon off; master_process off; pid {at}/nginx.pid; error_log stderr;");
    let mut command = Command::new(program);
    command.arg("-p").arg(dir).arg("-c").arg(file).args(["-e", "stderr", "-g", &globals]);
    command
}

/// The path of a proxy; see [`installed_program`].
pub fn installed(kind: Kind) -> PathBuf {
    installed_program(match kind {
        Kind::Nginx => "nginx",
        Kind::Caddy => "caddy",
        Kind::Traefik => "traefik",
        Kind::Envoy => "envoy",
    })
}

/// The path of a program. A test of it has its name in its own, so that `KEYMETER_TEST_WITHOUT` can leave it out.
///
/// # Panics
/// It is not installed.
pub fn installed_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = project().join("target/proxies/bin");
    let found =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), own]).map(|dir| dir.join(name)).find(|p| p.is_file());
    let how = match name {
        "envoy" | "traefik" => "scripts/proxies.sh installs it",
        _ => "install it (Debian: apt-get install nginx caddy pgbouncer mariadb-server-core)",
    };
    found.unwrap_or_else(|| {
        panic!("{name} is not installed: {how}, or leave its tests out: KEYMETER_TEST_WITHOUT={name} make test-service")
    })
}

/// This text with each of these replacements. The text must contain what is replaced.
pub fn adapted(text: &str, changes: &[(&str, String)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "the file must contain {old}");
        text.replace(old, new)
    })
}
