//! `keymeter front`: meters one API of language models.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use http::Uri;
use keymeter::telemetry;
use keymeter::telemetry::log::{Lines, LogFormat, Writing};
use keymeter_door::arguments::{DoorArgs, read_secret};
use keymeter_door::settings::DoorOptions;
use keymeter_front::settings::{FrontOptions, FrontSettings, KeyHeader, OnLeave};
use keymeter_front::{demo_upstream, front};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::CommandFailure;
use crate::output::print_line;

/// What the variables of the options begin with.
pub const VARIABLES: &str = "KEYMETER_FRONT__";

/// The metering front: each request to the API behind it is reserved in Keymeter before it is passed on, and charged
/// afterwards at what it did cost. Every option is also a setting of the section `[front]` of the settings file, and a
/// variable of the environment.
#[derive(Debug, Args)]
pub struct FrontArgs {
    /// Where clients send their requests.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    #[command(flatten)]
    door: DoorArgs,
    /// The API, by the base URL that an SDK takes, such as `https://api.openai.com/v1`; or `demo`, one in this program
    /// that repeats what it was asked.
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// The file with the API's own key. Without one, none is sent.
    #[arg(long, value_name = "FILE")]
    upstream_key_file: Option<PathBuf>,
    /// Certificates (PEM) that may sign that of the API, instead of the system's.
    #[arg(long, value_name = "FILE")]
    upstream_ca: Option<PathBuf>,
    /// A header that each request to the API gets. May be given several times; in a variable, each is a line.
    #[arg(long, value_name = "NAME: VALUE", value_delimiter = '\n', value_parser = header)]
    upstream_headers: Vec<(String, String)>,
    /// The header that has the API's key on `/v1/messages`.
    #[arg(long, value_name = "HEADER", default_value = "x-api-key")]
    messages_key: KeyHeader,
    /// Where `/healthz`, `/readyz` and `/metrics` are answered, such as 127.0.0.1:8081. Nowhere by default.
    #[arg(long, value_name = "ADDRESS")]
    operation_listen: Option<String>,
    /// What happens if a client leaves: its answer is read, because providers bill it to its end, or its connection is
    /// closed, because one's own machines stop then.
    #[arg(long, value_name = "WHAT", default_value = "read")]
    on_leave: OnLeave,
    /// Seconds of silence after which the API is given up.
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = clap::value_parser!(u32).range(1..))]
    read_timeout_seconds: u32,
}

impl FrontArgs {
    fn settings(self) -> Result<FrontSettings, String> {
        let upstream = self.upstream.ok_or("--upstream is missing: the API, such as https://api.openai.com/v1")?;
        // `demo` stands for an address that is known when it runs.
        let upstream = if upstream == DEMO { "http://127.0.0.1/v1".to_owned() } else { upstream };
        let options = FrontOptions {
            messages_key: self.messages_key,
            upstream_headers: self.upstream_headers,
            on_leave: self.on_leave,
            read_timeout_seconds: self.read_timeout_seconds,
        };
        Ok(FrontSettings {
            door: self.door.settings(DoorOptions::default())?,
            listen: self.listen,
            upstream: upstream.parse::<Uri>().map_err(|error| format!("--upstream {upstream}: {error}"))?,
            upstream_key: self.upstream_key_file.as_deref().map(read_secret).transpose()?,
            upstream_ca: self.upstream_ca,
            operation_listen: self.operation_listen,
            options,
        })
    }
}

/// The upstream that needs no account.
const DEMO: &str = "demo";

fn header(line: &str) -> Result<(String, String), &'static str> {
    let (name, value) = line.split_once(':').ok_or("must be a name, `:` and a value")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub fn run(arguments: FrontArgs) -> Result<(), CommandFailure> {
    let filter = arguments.door.log_filter.clone();
    let is_demo = arguments.upstream.as_deref() == Some(DEMO);
    let mut settings = arguments.settings()?;
    let log = Lines { filter: &filter, format: LogFormat::Text, server: "" };
    let _waiting_lines = telemetry::log::start(log, Writing::InBackground, None)?;
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
