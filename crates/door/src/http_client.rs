//! Connections to Keymeter and to the upstream.

use std::path::Path;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::error::DoorError;

/// Seconds for a connection, and for its TLS.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection waits for another request. Servers close theirs later.
const IDLE: Duration = Duration::from_secs(20);

/// What a connection keeps of an answer that nobody takes.
const MAX_BUFFER: usize = 64 * 1024;

pub type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A client that believes the system's certificates, or those of a file.
///
/// # Errors
/// The certificates cannot be read.
pub fn http_client(ca: Option<&Path>) -> Result<HttpClient, DoorError> {
    let connector = HttpsConnectorBuilder::new();
    let connector = match ca {
        None => connector.with_native_roots().map_err(DoorError::Certificates)?,
        Some(path) => connector.with_tls_config(config_of(path)?),
    };
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let connector = connector.https_or_http().enable_http1().wrap_connector(tcp);
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).http1_max_buf_size(MAX_BUFFER);
    Ok(builder.build(connector))
}

fn config_of(path: &Path) -> Result<ClientConfig, DoorError> {
    let unreadable = |reason: String| DoorError::Ca { path: path.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("it has no certificate".to_owned()));
    }
    Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}
