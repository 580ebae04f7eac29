//! `keymeter-envoy check`: reads the configuration that Envoy runs, and names what lets requests pass unmetered, or
//! breaks them.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::time::Duration;

use keymeter_door::body_memory::MAX_BODY;
use serde_json::Value;

const FILTER: &str = "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor";
const PER_ROUTE: &str = "envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute";
const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const DECOMPRESSOR: &str = "envoy.extensions.filters.http.decompressor.v3.Decompressor";

/// For Envoy's answer, which has certificates and all routes.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DUMP: u64 = 256 * 1024 * 1024;

/// Members that send a request on in another way than it was metered, or again, or past the filter, by what has them.
const OF_FILTER: [(&str, &str); 6] = [
    ("failure_mode_allow", "failure_mode_allow lets requests pass while keymeter-envoy is away"),
    ("observability_mode", "observability_mode lets every request pass"),
    ("disable_immediate_response", "disable_immediate_response lets refused requests pass"),
    ("forward_rules", "forward_rules hides headers that are to be removed"),
    ("route_cache_action", "route_cache_action can choose another route after the request was checked"),
    ("status_on_error", "status_on_error can make a broken request look answered"),
];
const OF_ROUTE: [(&str, &str); 5] = [
    ("retry_policy", "retry_policy repeats requests: each may be billed, and only one is charged"),
    ("retry_policy_typed_config", "it repeats requests: each may be billed, and only one is charged"),
    ("hedge_policy", "hedge_policy repeats requests: each may be billed, and only one is charged"),
    ("request_mirror_policies", "request_mirror_policies send requests a second time, and nobody is charged for that"),
    ("internal_redirect_policy", "internal_redirect_policy sends requests again, past the filter"),
];
const OF_MUTATION_RULES: [&str; 4] = ["disallow_all", "disallow_system", "disallow_expression", "disallow_is_error"];

/// The least `message_timeout`, in seconds: Keymeter has two for an answer.
const MIN_TIMEOUT: f64 = 2.5;

/// The least number of requests at once.
const MIN_REQUESTS: u64 = 10_000;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub severity: Severity,
    pub place: String,
    pub says: String,
}

/// What it leads to. The first is the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Requests pass that nobody pays.
    Leaks,
    /// Requests fail, or their charge is not exact.
    Breaks,
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Leaks => "leaks",
            Severity::Breaks => "breaks",
        };
        write!(f, "{severity}: {}: {}", self.place, self.says)
    }
}

/// Reads the configuration of a running Envoy, or a file, and prints what is wrong. Returns true if nothing is.
///
/// # Errors
/// It cannot be read.
pub fn run(source: &str) -> Result<bool, String> {
    let dump = if source.starts_with("http://") || source.starts_with("https://") {
        fetched(source)?
    } else {
        std::fs::read_to_string(source).map_err(|error| format!("cannot read {source}: {error}"))?
    };
    let dump = serde_json::from_str(&dump).map_err(|error| format!("{source} has no config_dump: {error}"))?;
    let findings = examine(&dump)?;
    for finding in &findings {
        print(&finding.to_string());
    }
    if findings.is_empty() {
        print("nothing is wrong that a configuration shows");
    }
    Ok(findings.is_empty())
}

fn fetched(source: &str) -> Result<String, String> {
    let base = source.trim_end_matches('/');
    let url = if base.ends_with("/config_dump") { base.to_owned() } else { format!("{base}/config_dump") };
    let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).build().into();
    let answer = agent.get(&url).call().map_err(|error| format!("cannot read {url}: {error}"))?;
    let text = answer.into_body().into_with_config().limit(MAX_DUMP).read_to_string();
    text.map_err(|error| format!("cannot read {url}: {error}"))
}

/// Writes a line on standard error. If nobody reads it, it is lost.
pub fn print(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What is wrong in a `config_dump`.
///
/// # Errors
/// It has no listener: it is something else, or no configuration has come yet.
pub fn examine(dump: &Value) -> Result<Vec<Finding>, String> {
    let mut check = Check { dump, findings: BTreeSet::new() };
    let mut listeners = Vec::new();
    of_type(dump, "envoy.config.listener.v3.Listener", &mut listeners);
    if listeners.is_empty() {
        return Err("it has no listener: is this Envoy's config_dump, with its configuration loaded?".to_owned());
    }
    let mut has_filter = false;
    for listener in listeners {
        has_filter |= check.listener(listener);
    }
    if !has_filter {
        check.leaks("all listeners", "none has an ext_proc filter: nothing is metered");
    }
    Ok(check.findings.into_iter().collect())
}

struct Check<'d> {
    dump: &'d Value,
    findings: BTreeSet<Finding>,
}

impl<'d> Check<'d> {
    fn leaks(&mut self, place: &str, says: &str) {
        self.add(Severity::Leaks, place, says);
    }

    fn breaks(&mut self, place: &str, says: &str) {
        self.add(Severity::Breaks, place, says);
    }

    fn add(&mut self, severity: Severity, place: &str, says: &str) {
        self.findings.insert(Finding { severity, place: place.to_owned(), says: says.to_owned() });
    }

    /// Returns true if it has a metering filter.
    fn listener(&mut self, listener: &'d Value) -> bool {
        let place = format!("listener {}", text(listener, "name"));
        let mut managers = Vec::new();
        of_type(listener, MANAGER, &mut managers);
        let (mut has_filter, mut is_buffered) = (false, false);
        for manager in managers {
            let filters = list(manager, "http_filters");
            // In another filter, where a proxy wraps it to choose one by the request.
            let Some((at, config)) =
                filters.iter().enumerate().find_map(|(at, filter)| Some((at, first(filter, FILTER)?)))
            else {
                self.leaks(&place, "its requests pass no ext_proc filter: nothing is metered there");
                continue;
            };
            has_filter = true;
            is_buffered |= text(&config["processing_mode"], "request_body_mode") == "BUFFERED";
            self.filter(&place, config);
            if filters[..at].iter().any(|filter| text(&filter["typed_config"], "@type").ends_with(".Router")) {
                self.leaks(&place, "the ext_proc filter stands behind the router");
            }
            if filters[at..].iter().any(|filter| is_type(&filter["typed_config"], DECOMPRESSOR)) {
                self.breaks(&place, "a decompressor behind the ext_proc filter lets answers hang: remove it");
            }
            if manager["use_remote_address"] != Value::Bool(true) {
                self.leaks(&place, "use_remote_address is off: clients say their own address in X-Forwarded-For");
            }
            if is_set(&manager["upgrade_configs"]) {
                self.leaks(&place, "upgrade_configs let WebSockets pass, which nothing meters");
            }
            if let Some(timeout) = seconds(&manager["stream_idle_timeout"])
                && timeout > 0.0
                && timeout < 60.0
            {
                self.breaks(&place, "stream_idle_timeout cuts answers while a model thinks: set 600s");
            }
            let is_disabled = filters[at]["disabled"] == Value::Bool(true);
            self.routes(&place, manager, (text(&filters[at], "name"), is_disabled));
        }
        let limit =
            listener["per_connection_buffer_limit_bytes"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        if is_buffered && limit.is_none_or(|limit| limit < MAX_BODY) {
            self.breaks(
                &place,
                "per_connection_buffer_limit_bytes is below 33554432: larger requests get 413, or break",
            );
        }
        has_filter
    }

    fn filter(&mut self, place: &str, config: &'d Value) {
        for (member, says) in OF_FILTER {
            if is_set(&config[member]) {
                self.leaks(place, says);
            }
        }
        for rule in OF_MUTATION_RULES {
            if is_set(&config["mutation_rules"][rule]) {
                self.leaks(place, &format!("mutation_rules: with {rule} a client's key reaches the API"));
            }
        }
        let mode = &config["processing_mode"];
        for (name, allowed) in [
            ("request_body_mode", ["BUFFERED", "FULL_DUPLEX_STREAMED"]),
            ("response_body_mode", ["STREAMED", "FULL_DUPLEX_STREAMED"]),
        ] {
            if !allowed.contains(&text(mode, name)) {
                let [one, other] = allowed;
                self.breaks(place, &format!("{name} must be {one} or {other}: every request gets 500"));
            }
        }
        for name in ["request_header_mode", "response_header_mode"] {
            if text(mode, name) == "SKIP" {
                self.leaks(place, &format!("{name} is SKIP: set SEND"));
            }
        }
        for name in ["request_trailer_mode", "response_trailer_mode"] {
            if text(mode, name) != "SEND" {
                self.breaks(place, &format!("{name} must be SEND: trailers end a body as its last piece does"));
            }
        }
        if config["allow_mode_override"] == Value::Bool(true) {
            self.breaks(place, "allow_mode_override is not used: remove it");
        }
        for (name, attribute, says) in [
            (
                "request_attributes",
                "source.address",
                "clients get 500, unless X-Forwarded-For of --trusted-proxies tells their address",
            ),
            (
                "response_attributes",
                "response.code_details",
                "a 504 of the API counts as one of Envoy: its hold is charged",
            ),
        ] {
            if !list(config, name).iter().any(|value| value == attribute) {
                self.breaks(place, &format!("{name} has no {attribute}: {says}"));
            }
        }
        if seconds(&config["message_timeout"]).unwrap_or(0.2) < MIN_TIMEOUT {
            self.breaks(place, "message_timeout is too short, 200ms by default: set 5s");
        }
        let cluster = &config["grpc_service"]["envoy_grpc"]["cluster_name"];
        match cluster.as_str() {
            Some(name) => self.cluster(name),
            None => self.breaks(place, "grpc_service has no envoy_grpc: its health cannot be watched"),
        }
    }

    fn cluster(&mut self, name: &str) {
        let place = format!("cluster {name}");
        let mut clusters = Vec::new();
        of_type(self.dump, "envoy.config.cluster.v3.Cluster", &mut clusters);
        let Some(cluster) = clusters.into_iter().find(|cluster| text(cluster, "name") == name) else {
            return self.breaks(&place, "it does not exist");
        };
        let mut options = Vec::new();
        of_type(cluster, "envoy.extensions.upstreams.http.v3.HttpProtocolOptions", &mut options);
        let has_http2 = |options: &&Value| !options["explicit_http_config"]["http2_protocol_options"].is_null();
        if !options.iter().any(has_http2) && cluster["http2_protocol_options"].is_null() {
            self.breaks(&place, "it does not speak HTTP/2, which gRPC needs");
        }
        let thresholds = list(&cluster["circuit_breakers"], "thresholds");
        let default = thresholds.iter().find(|one| one["priority"].is_null() || text(one, "priority") == "DEFAULT");
        let max_requests = default.and_then(|one| one["max_requests"].as_u64()).unwrap_or(1_024);
        if max_requests < MIN_REQUESTS {
            let says = format!("it takes {max_requests} requests at once, and every open answer counts: set 100000");
            self.breaks(&place, &says);
        }
        let checks = list(cluster, "health_checks");
        let grpc = checks.iter().find(|check| !check["grpc_health_check"].is_null());
        match grpc {
            None => self.breaks(&place, "it has no gRPC health check: requests fail while a processor restarts"),
            Some(check) if seconds(&check["no_traffic_interval"]).unwrap_or(60.0) > 5.0 => {
                self.breaks(&place, "no_traffic_interval is 60s by default: a processor that starts gets no requests");
            }
            Some(_) => {}
        }
    }

    /// The routes of a manager: inline, or by the name of their configuration.
    fn routes(&mut self, place: &str, manager: &'d Value, (filter, is_disabled): (&str, bool)) {
        let mut configs = Vec::new();
        if manager["route_config"].is_null() {
            let name = text(&manager["rds"], "route_config_name");
            of_type(self.dump, "envoy.config.route.v3.RouteConfiguration", &mut configs);
            configs.retain(|config| text(config, "name") == name);
            if configs.is_empty() {
                self.breaks(place, &format!("its routes {name} are not in the dump"));
            }
        } else {
            configs.push(&manager["route_config"]);
        }
        for config in configs {
            self.overrides(place, config, filter);
            for host in list(config, "virtual_hosts") {
                let host_place = format!("{place}, host {}", text(host, "name"));
                self.overrides(&host_place, host, filter);
                self.repeats(&host_place, host);
                for route in list(host, "routes") {
                    let matched = route["match"].to_string();
                    let route_place = format!("{host_place}, route {matched}");
                    self.overrides(&route_place, route, filter);
                    self.repeats(&route_place, &route["route"]);
                    let has_settings = |of: &Value| !of["typed_per_filter_config"][filter].is_null();
                    if is_disabled && ![config, host, route].into_iter().any(has_settings) {
                        self.leaks(&route_place, "the ext_proc filter is disabled, and it does not enable it");
                    }
                    for weighted in list(&route["route"]["weighted_clusters"], "clusters") {
                        self.overrides(&route_place, weighted, filter);
                    }
                }
            }
        }
    }

    /// Settings of the filter for a part of the routes.
    fn overrides(&mut self, place: &str, of: &'d Value, filter: &str) {
        let config = &of["typed_per_filter_config"][filter];
        if config.is_null() {
            return;
        }
        let inner = if config["config"].is_null() { config } else { &config["config"] };
        if [config, inner].iter().any(|config| config["disabled"] == Value::Bool(true)) {
            self.leaks(place, "it disables the ext_proc filter");
        }
        if is_type(inner, PER_ROUTE) && !inner["overrides"].is_null() {
            let overrides = &inner["overrides"];
            for name in ["processing_mode", "grpc_service"] {
                if !overrides[name].is_null() {
                    self.leaks(place, &format!("it overrides {name} of the ext_proc filter"));
                }
            }
            if overrides["failure_mode_allow"] == Value::Bool(true) {
                self.leaks(place, "failure_mode_allow lets requests pass while keymeter-envoy is away");
            }
        }
    }

    fn repeats(&mut self, place: &str, of: &Value) {
        for (member, says) in OF_ROUTE {
            if is_set(&of[member]) {
                self.leaks(place, says);
            }
        }
    }
}

/// Collects all values of a type, wherever they are; not those within one another.
fn of_type<'d>(value: &'d Value, name: &str, found: &mut Vec<&'d Value>) {
    if is_type(value, name) {
        found.push(value);
        return;
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| of_type(value, name, found)),
        Value::Object(members) => members.values().for_each(|value| of_type(value, name, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The first value of a type.
fn first<'d>(value: &'d Value, name: &str) -> Option<&'d Value> {
    let mut found = Vec::new();
    of_type(value, name, &mut found);
    found.into_iter().next()
}

/// Returns true if a member says something: a switch that is on, or a part with content, also an empty one.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(values) => !values.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Object(_) => true,
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    value["@type"].as_str().is_some_and(|of| of.rsplit('/').next() == Some(name))
}

fn list<'d>(value: &'d Value, name: &str) -> &'d [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text<'d>(value: &'d Value, name: &str) -> &'d str {
    value[name].as_str().unwrap_or_default()
}

/// A duration, as JSON has it: `5s`, `0.200s`.
fn seconds(value: &Value) -> Option<f64> {
    value.as_str()?.strip_suffix('s')?.parse().ok()
}
