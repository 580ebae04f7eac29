//! Variables that Kubernetes sets in every pod for every Service (`enableServiceLinks`). Those of a Service whose name
//! begins with `keymeter` look like settings.

use std::net::{IpAddr, SocketAddr};

const PROTOCOLS: [&str; 3] = ["tcp", "udp", "sctp"];

/// Returns true if a variable is such a link, by its name and by its value: `KEYMETER_PORT=3000` was written by hand.
pub(super) fn is_service_link(name: &str, value: &str) -> bool {
    let is_port = value.parse::<u16>().is_ok_and(|port| port > 0);
    let is_ip = value.parse::<IpAddr>().is_ok();
    if name.ends_with("_SERVICE_HOST") {
        return is_ip;
    }
    if name.ends_with("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
        return is_port;
    }
    if name.ends_with("_PORT") && is_address(value) {
        return true;
    }
    // KEYMETER_PORT_3000_TCP, and with _PROTO, _PORT and _ADDR.
    let Some((_, of_port)) = name.rsplit_once("_PORT_").or_else(|| before_last_port(name)) else { return false };
    match of_port.split('_').collect::<Vec<_>>()[..] {
        [port, protocol] => is_number(port) && is_protocol(protocol) && is_address(value),
        [port, protocol, "PROTO"] => is_number(port) && is_protocol(protocol) && is_protocol(value),
        [port, protocol, "PORT"] => is_number(port) && is_protocol(protocol) && value == port,
        [port, protocol, "ADDR"] => is_number(port) && is_protocol(protocol) && is_ip,
        _ => false,
    }
}

/// The end of `…_PORT_3000_TCP_PORT` too, whose last `_PORT` is not the one.
fn before_last_port(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix("_PORT").and_then(|rest| rest.rsplit_once("_PORT_"))
}

/// `tcp://10.0.0.1:3000`
fn is_address(value: &str) -> bool {
    value
        .split_once("://")
        .is_some_and(|(protocol, address)| PROTOCOLS.contains(&protocol) && address.parse::<SocketAddr>().is_ok())
}

fn is_protocol(text: &str) -> bool {
    PROTOCOLS.iter().any(|protocol| text.eq_ignore_ascii_case(protocol))
}

fn is_number(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_of_a_service_are_known_by_name_and_value() {
        for (name, value) in [
            ("KEYMETER_SERVICE_HOST", "10.96.0.7"),
            ("KEYMETER_SERVICE_HOST", "fd00::7"),
            ("KEYMETER_SERVICE_PORT", "3000"),
            ("KEYMETER_SERVICE_PORT_HTTP", "3000"),
            ("KEYMETER_PORT", "tcp://10.96.0.7:3000"),
            ("KEYMETER_PORT", "tcp://[fd00::7]:3000"),
            ("KEYMETER_PORT_3000_TCP", "tcp://10.96.0.7:3000"),
            ("KEYMETER_PORT_3000_TCP_PROTO", "tcp"),
            ("KEYMETER_PORT_3000_TCP_PORT", "3000"),
            ("KEYMETER_PORT_3000_TCP_ADDR", "10.96.0.7"),
            ("KEYMETER_PORT_53_UDP_ADDR", "10.96.0.7"),
            ("KEYMETER_DB_PORT_5432_TCP", "tcp://10.96.0.8:5432"),
            ("KEYMETER_DB_SERVICE_PORT_POSTGRES", "5432"),
        ] {
            assert!(is_service_link(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("KEYMETER_PORT", "3000"),
            ("KEYMETER_PORT", "http://10.96.0.7:3000"),
            ("KEYMETER_PORT", ""),
            ("KEYMETER_SERVICE_HOST", "keymeter.example"),
            ("KEYMETER_SERVICE_PORT", "http"),
            ("KEYMETER_PORT_3000_TCP_PORT", "3001"),
            ("KEYMETER_PORT_X_TCP", "tcp://10.96.0.7:3000"),
            ("KEYMETER_LISTEN", "10.96.0.7"),
            ("KEYMETER_SERVER__LISTEN", "tcp://10.96.0.7:3000"),
        ] {
            assert!(!is_service_link(name, value), "{name}={value}");
        }
    }
}
