//! A database of the operator's own whose certificate another authority than a public one has signed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::process::run;
use crate::harness::{Cluster, MASTER_KEY};

fn openssl(dir: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(dir).output();
    let output = output.expect("openssl is installed");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An authority in `ca.pem`, and a certificate of this machine that it signed.
fn make_certificates(dir: &Path) {
    openssl(dir, "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem");
    openssl(dir, "req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout server.key -out server.csr");
    fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n").unwrap();
    openssl(
        dir,
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt",
    );
}

#[test]
fn verify_full_goes_by_the_certificates_of_the_system_or_by_those_that_are_named() {
    let dir = tempfile::tempdir().unwrap();
    make_certificates(dir.path());
    let cluster = Cluster::start();
    cluster.stop();
    cluster.resume_with_tls(&dir.path().join("server.crt"), &dir.path().join("server.key"));
    let authority = dir.path().join("ca.pem");
    let authority = authority.to_str().unwrap();
    let full = format!("{}?sslmode=verify-full", cluster.url());
    let named = format!("{full}&sslrootcert={authority}");
    let migrate = |url: &str, system: &str| {
        let settings = [("DATABASE_URL", url), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY), ("SSL_CERT_FILE", system)];
        run(dir.path(), &settings, &["migrate"])
    };
    let refused = String::from_utf8(migrate(&full, "/etc/ssl/certs/ca-certificates.crt").stderr).unwrap();
    assert!(refused.contains("add `sslrootcert=/path/to/ca.pem` to DATABASE_URL"), "{refused}");
    for (url, system) in [(&full, authority), (&named, "/etc/ssl/certs/ca-certificates.crt")] {
        let migrated = migrate(url, system);
        assert!(migrated.status.success(), "{url}: {}", String::from_utf8_lossy(&migrated.stderr));
    }
}
