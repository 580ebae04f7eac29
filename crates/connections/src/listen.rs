//! The listening socket: how it is opened, and how it stops accepting connections.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that the system may complete before they are accepted. The system uses the smaller of this and its own
/// limit. If it is too small, a server under load loses connections before it sees them.
const BACKLOG: u32 = 4_096;

/// Whether other programs of the same user may listen on the same port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    Alone,
    /// So a new program starts before the old one ends.
    WithOthers,
}

/// Listens on an address, such as `127.0.0.1:3000` or `localhost:3000`. `:3000` and `*:3000` are all addresses of this
/// machine: those of IPv6 and IPv4, or of IPv4 alone if the system has no IPv6.
///
/// # Errors
/// The name has no address, or the server cannot listen on any of its addresses.
pub async fn listen(address: &str, sharing: Sharing) -> io::Result<TcpListener> {
    let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "it has no address");
    let port = address.strip_prefix('*').unwrap_or(address).strip_prefix(':').and_then(|port| port.parse::<u16>().ok());
    let addresses: Vec<SocketAddr> = match port {
        Some(port) => vec![(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()],
        None => tokio::net::lookup_host(address).await?.collect(),
    };
    for address in addresses {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let listening = socket.and_then(|socket| {
            // Without this, the port stays in use for a minute after a server has stopped.
            socket.set_reuseaddr(true)?;
            socket.set_reuseport(sharing == Sharing::WithOthers)?;
            if port.is_some() && address.is_ipv6() {
                SockRef::from(&socket).set_only_v6(false)?;
            }
            socket.bind(address)?;
            socket.listen(BACKLOG)
        });
        match listening {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Drops new handshakes. Closing a listener resets the connections that are complete but not accepted, and their
/// clients may already have sent a request. A client whose handshake gets no answer tries again, and then finds the
/// port closed.
#[cfg(target_os = "linux")]
pub(super) fn refuse_handshakes(listener: &TcpListener) {
    use socket2::SockFilter;
    // Classic BPF on the TCP header: drop packets with SYN (2) and without ACK (16) in byte 13, pass all others.
    let drop_syn = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x54, 0, 0, 0x12),
        SockFilter::new(0x15, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&drop_syn) {
        tracing::debug!(%error, "cannot refuse new handshakes; a connection may be reset");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn refuse_handshakes(_: &TcpListener) {}
