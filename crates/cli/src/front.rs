//! `keymeter front`: meters one API of language models.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use http::Uri;
use ipnet::IpNet;
use keymeter::domain::usd_cost::UsdCost;
use keymeter::telemetry;
use keymeter::telemetry::log::{LogFormat, Writing};
use keymeter_front::settings::{FrontOptions, FrontSettings, HoldExpiry, KeyHeader, OnLeave};
use keymeter_front::{demo_upstream, front};
use keymeter_meter::settings::MeterSettings;
use secrecy::SecretString;
use serde::Deserialize;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::CommandFailure;
use crate::output::print_line;

/// The metering front: each request to the API behind it is reserved in Keymeter before it is passed on, and charged
/// afterwards at what it did cost. Every option is also a setting of the section `[front]` of the settings file, and a
/// variable of the environment.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontArgs {
    /// Where clients send their requests.
    #[arg(long, value_name = "ADDRESS", env = "KEYMETER_FRONT__LISTEN")]
    listen: Option<String>,
    /// Where Keymeter is. Default: `http://127.0.0.1:3000`
    #[arg(long, value_name = "URL", env = "KEYMETER_URL")]
    url: Option<String>,
    /// The file with the credential of this gateway, as `keymeter gateway create` prints it; or set
    /// `KEYMETER_CREDENTIAL` to the credential.
    #[arg(long, value_name = "FILE", env = "KEYMETER_FRONT__CREDENTIAL_FILE")]
    credential_file: Option<PathBuf>,
    /// For the environment only: a command line can be seen by others.
    #[serde(skip)]
    #[arg(long, hide = true, env = "KEYMETER_CREDENTIAL", hide_env_values = true, value_parser = hidden)]
    credential: Option<SecretString>,
    /// The API, by the base URL that an SDK takes, such as `https://api.openai.com/v1`; or `demo`, one in this program
    /// that repeats what it was asked.
    #[arg(long, value_name = "URL", env = "KEYMETER_FRONT__UPSTREAM")]
    upstream: Option<String>,
    /// The file with the API's own key. Without one, none is sent.
    #[arg(long, value_name = "FILE", env = "KEYMETER_FRONT__UPSTREAM_KEY_FILE")]
    upstream_key_file: Option<PathBuf>,
    /// Certificates (PEM) that may sign that of the API, instead of the system's.
    #[arg(long, value_name = "FILE", env = "KEYMETER_FRONT__UPSTREAM_CA")]
    upstream_ca: Option<PathBuf>,
    /// A header that each request to the API gets. May be given several times.
    #[arg(long, value_name = "NAME: VALUE", env = "KEYMETER_FRONT__UPSTREAM_HEADERS", value_delimiter = ',')]
    upstream_headers: Option<Vec<String>>,
    /// The header that has the API's key on `/v1/messages`: `x-api-key` (default) or authorization.
    #[arg(long, value_name = "HEADER", env = "KEYMETER_FRONT__MESSAGES_KEY")]
    messages_key: Option<String>,
    /// Where `/healthz`, `/readyz` and `/metrics` are answered, such as 127.0.0.1:8081. Nowhere by default.
    #[arg(long, value_name = "ADDRESS", env = "KEYMETER_FRONT__OPERATION_LISTEN")]
    operation_listen: Option<String>,
    /// Whose price of a model counts, if the price list has several.
    #[arg(long, value_name = "PROVIDER", env = "KEYMETER_FRONT__PROVIDER")]
    provider: Option<String>,
    /// Whose answers those of the API look like, by the ids of `genai-prices`. Default: openai
    #[arg(long, value_name = "PROVIDER", env = "KEYMETER_FRONT__SHAPE")]
    shape: Option<String>,
    /// The output that is held for a request without a limit, in tokens. Default: 4096
    #[arg(long, value_name = "TOKENS", env = "KEYMETER_FRONT__MAX_TOKENS")]
    max_tokens: Option<u64>,
    /// What is held for a picture, in tokens. Default: the most that the provider is known to count.
    #[arg(long, value_name = "TOKENS", env = "KEYMETER_FRONT__IMAGE_TOKENS")]
    image_tokens: Option<u64>,
    /// The searches that are held for a request that names no limit of them. Default: 10
    #[arg(long, value_name = "NUMBER", env = "KEYMETER_FRONT__MAX_SEARCHES")]
    max_searches: Option<u64>,
    /// Hold these dollars for each request, instead of what it may use: for APIs that say what an answer cost.
    #[arg(long, value_name = "DOLLARS", env = "KEYMETER_FRONT__HOLD_USD")]
    hold_usd: Option<String>,
    /// Seconds for which a hold lasts; it is extended while the answer comes. Default: 3600
    #[arg(long, value_name = "SECONDS", env = "KEYMETER_FRONT__TTL_SECONDS")]
    ttl_seconds: Option<u32>,
    /// What becomes of the holds of a front that was killed: charge (default) or release.
    #[arg(long, value_name = "WHAT", env = "KEYMETER_FRONT__ON_EXPIRY")]
    on_expiry: Option<String>,
    /// Requests that may be under way or wait for their settlement. Default: 10000
    #[arg(long, value_name = "NUMBER", env = "KEYMETER_FRONT__MAX_REQUESTS")]
    max_requests: Option<NonZeroUsize>,
    /// Charge the model that the answer names, not the one that was asked for.
    #[arg(long, env = "KEYMETER_FRONT__ANSWER_MODEL", num_args = 0..=1, default_missing_value = "true")]
    answer_model: Option<bool>,
    /// Networks of proxies in front, separated by commas. `X-Forwarded-For` is believed only from these.
    #[arg(long, value_name = "NETWORKS", env = "KEYMETER_FRONT__TRUSTED_PROXIES", value_delimiter = ',')]
    trusted_proxies: Option<Vec<IpNet>>,
    /// What happens if a client leaves: read (default), because providers bill the answer to its end, or close, because
    /// one's own machines stop then.
    #[arg(long, value_name = "WHAT", env = "KEYMETER_FRONT__ON_LEAVE")]
    on_leave: Option<String>,
    /// Seconds of silence after which the API is given up. Default: 600
    #[arg(long, value_name = "SECONDS", env = "KEYMETER_FRONT__READ_TIMEOUT_SECONDS")]
    read_timeout_seconds: Option<u32>,
    /// Members that bodies may have besides those that are known, separated by commas.
    #[arg(long, value_name = "NAMES", env = "KEYMETER_FRONT__MEMBERS", value_delimiter = ',')]
    members: Option<Vec<String>>,
    /// Values of `anthropic-beta` that may be sent besides those that are known, separated by commas.
    #[arg(long, value_name = "NAMES", env = "KEYMETER_FRONT__BETAS", value_delimiter = ',')]
    betas: Option<Vec<String>>,
    /// Types of tools and content that no counts tell, separated by commas. They pass, and cost the hold.
    #[arg(long, value_name = "TYPES", env = "KEYMETER_FRONT__UNCOUNTED", value_delimiter = ',')]
    uncounted: Option<Vec<String>>,
    /// Let documents and conversations be named by address or id, although the hold does not know their size.
    #[arg(long, env = "KEYMETER_FRONT__REFERENCES", num_args = 0..=1, default_missing_value = "true")]
    references: Option<bool>,
    /// Models whose API refuses `stream_options`, separated by commas; a * at the end stands for any.
    #[arg(long, value_name = "MODELS", env = "KEYMETER_FRONT__WITHOUT_STREAM_OPTIONS", value_delimiter = ',')]
    without_stream_options: Option<Vec<String>>,
    /// Models that show all they think, separated by commas; a * at the end stands for any. A stream of others that
    /// ends early costs the hold.
    #[arg(long, value_name = "MODELS", env = "KEYMETER_FRONT__SHOWS_THINKING", value_delimiter = ',')]
    shows_thinking: Option<Vec<String>>,
    /// Which lines are logged: info (default), warn, debug, or by target, as `log.filter` of the server.
    #[arg(long, value_name = "FILTER", env = "KEYMETER_LOG__FILTER")]
    log_filter: Option<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "clap wants a result")]
fn hidden(text: &str) -> Result<SecretString, Infallible> {
    Ok(text.into())
}

/// The settings of the arguments, where they say nothing those of the file.
macro_rules! or_file {
    ($arguments:expr, $file:expr; $($name:ident)*) => { FrontArgs { $($name: $arguments.$name.or($file.$name),)* } };
}

impl FrontArgs {
    fn or_file(self, file: Self) -> Self {
        or_file!(self, file; listen url credential_file credential upstream upstream_key_file upstream_ca
            upstream_headers messages_key operation_listen provider shape max_tokens image_tokens max_searches hold_usd
            ttl_seconds on_expiry max_requests answer_model trusted_proxies on_leave read_timeout_seconds members betas
            uncounted references without_stream_options shows_thinking log_filter)
    }

    fn settings(self) -> Result<FrontSettings, String> {
        let url = |name: &str, text: String| text.parse::<Uri>().map_err(|error| format!("--{name} {text}: {error}"));
        let upstream = self.upstream.ok_or("--upstream is missing: the API, such as https://api.openai.com/v1")?;
        let credential = match (self.credential_file, self.credential) {
            (Some(path), _) => secret(&path)?,
            (None, Some(credential)) => credential,
            (None, None) => {
                return Err("--credential-file is missing: `keymeter gateway create front` prints a credential".into());
            }
        };
        if self.read_timeout_seconds == Some(0) || self.ttl_seconds.is_some_and(|ttl| !(1..=86_400).contains(&ttl)) {
            return Err("--read-timeout-seconds must be above 0, and --ttl-seconds from 1 to 86400".into());
        }
        if self.hold_usd.as_ref().is_some_and(|dollars| dollars.parse::<UsdCost>().is_err()) {
            return Err("--hold-usd must be dollars, such as 0.05".into());
        }
        let (meter, default) = (MeterSettings::default(), FrontOptions::default());
        let meter = MeterSettings {
            shape: self.shape.unwrap_or(meter.shape),
            max_tokens: self.max_tokens.unwrap_or(meter.max_tokens),
            image_tokens: self.image_tokens,
            max_searches: self.max_searches.unwrap_or(meter.max_searches),
            members: self.members.unwrap_or_default(),
            betas: self.betas.unwrap_or_default(),
            uncounted: self.uncounted.unwrap_or_default(),
            references: self.references.unwrap_or_default(),
            without_stream_options: self.without_stream_options.unwrap_or_default(),
            shows_thinking: self.shows_thinking.unwrap_or_default(),
        };
        let options = FrontOptions {
            messages_key: choice("messages-key", self.messages_key.as_deref(), &KEY_HEADERS)?,
            upstream_headers: self
                .upstream_headers
                .unwrap_or_default()
                .iter()
                .map(|line| header(line))
                .collect::<Result<_, _>>()?,
            provider: self.provider,
            hold_usd: self.hold_usd,
            ttl_seconds: self.ttl_seconds.unwrap_or(default.ttl_seconds),
            on_expiry: choice("on-expiry", self.on_expiry.as_deref(), &ON_EXPIRY)?,
            max_requests: self.max_requests.unwrap_or(default.max_requests),
            answer_model: self.answer_model.unwrap_or_default(),
            trusted_proxies: self.trusted_proxies.unwrap_or_default(),
            on_leave: choice("on-leave", self.on_leave.as_deref(), &ON_LEAVE)?,
            read_timeout_seconds: self.read_timeout_seconds.unwrap_or(default.read_timeout_seconds),
            meter,
        };
        // `demo` stands for an address that is known when it runs.
        let upstream = if upstream == DEMO { "http://127.0.0.1/v1".to_owned() } else { upstream };
        Ok(FrontSettings {
            listen: self.listen.unwrap_or_else(|| "127.0.0.1:8080".to_owned()),
            url: url("url", self.url.unwrap_or_else(|| "http://127.0.0.1:3000".to_owned()))?,
            credential,
            upstream: url("upstream", upstream)?,
            upstream_key: self.upstream_key_file.as_deref().map(secret).transpose()?,
            upstream_ca: self.upstream_ca,
            operation_listen: self.operation_listen,
            options,
        })
    }
}

/// The upstream that needs no account.
const DEMO: &str = "demo";

/// The values of a setting, the default first.
const KEY_HEADERS: [(&str, KeyHeader); 2] =
    [("x-api-key", KeyHeader::XApiKey), ("authorization", KeyHeader::Authorization)];
const ON_EXPIRY: [(&str, HoldExpiry); 2] = [("charge", HoldExpiry::Charge), ("release", HoldExpiry::Release)];
const ON_LEAVE: [(&str, OnLeave); 2] = [("read", OnLeave::Read), ("close", OnLeave::Close)];

fn choice<T: Copy>(name: &str, text: Option<&str>, values: &[(&str, T); 2]) -> Result<T, String> {
    let [(first, default), (second, _)] = values;
    let Some(text) = text else { return Ok(*default) };
    let found = values.iter().find(|(value, _)| *value == text).map(|(_, value)| *value);
    found.ok_or_else(|| format!("--{name} must be {first} or {second}"))
}

fn header(line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or("--upstream-headers must be a name, `:` and a value each")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The last word of the first line of a file: commands print a secret after what it is.
fn secret(path: &Path) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let word = text.lines().next().and_then(|line| line.split_whitespace().last());
    word.map(|word| word.to_owned().into()).ok_or_else(|| format!("{} is empty", path.display()))
}

/// The section `[front]` of a settings file.
fn section(path: &Path) -> Result<FrontArgs, String> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        front: FrontArgs,
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let File { front } = toml::from_str(&text).map_err(|error| format!("{}: {}", path.display(), error.message()))?;
    Ok(front)
}

pub fn run(arguments: FrontArgs, file: Option<&Path>) -> Result<(), CommandFailure> {
    let file = file.map(section).transpose()?.unwrap_or_default();
    let mut arguments = arguments.or_file(file);
    let filter = arguments.log_filter.take().unwrap_or_else(|| "info".to_owned());
    let is_demo = arguments.upstream.as_deref() == Some(DEMO);
    let mut settings = arguments.settings()?;
    let _waiting_lines = telemetry::log::start((&filter, LogFormat::Text), Writing::InBackground, None)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("cannot start threads: {error}"))?;
    let served = runtime.block_on(async {
        let caught = |kind| signal(kind).map_err(|error| format!("cannot catch a signal: {error}"));
        let (mut terminate, mut interrupt) = (caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?);
        let stop = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        if is_demo {
            let address = demo_upstream::start().await.map_err(|error| error.to_string())?;
            settings.upstream = format!("http://{address}/v1").parse().map_err(|error| format!("{error}"))?;
        }
        let upstream = settings.upstream.to_string();
        let started = |address: SocketAddr| {
            print_line(&format!("The metering front of {upstream} listens on http://{address}"));
        };
        front::run(&settings, started, stop).await.map_err(|error| error.to_string())
    });
    Ok(served?)
}
