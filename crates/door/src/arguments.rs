//! The options of a program that meters: of its command line, else of a variable, else of a section of a settings file.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, Command};
use http::Uri;
use ipnet::IpNet;
use keymeter_meter::number::ExactNumber;
use keymeter_meter::settings::MeterSettings;
use secrecy::SecretString;

use crate::settings::{DoorOptions, DoorSettings, HoldExpiry};

/// Options of every program that meters. Those without a default are those of [`DoorOptions`] and [`MeterSettings`].
#[derive(Debug, Args)]
pub struct DoorArgs {
    /// Where Keymeter is.
    #[arg(long, value_name = "URL", env = "KEYMETER_URL", default_value = "http://127.0.0.1:3000")]
    url: Uri,
    /// The file with the credential of this gateway, as `keymeter gateway create` prints it; or set
    /// `KEYMETER_CREDENTIAL` to the credential.
    #[arg(long, value_name = "FILE")]
    credential_file: Option<PathBuf>,
    /// For the environment only: a command line can be seen by others.
    #[arg(long, hide = true, env = "KEYMETER_CREDENTIAL", hide_env_values = true, value_parser = hidden)]
    credential: Option<SecretString>,
    /// Whose price of a model counts, if the price list has several.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Whose answers those of the API look like, by the ids of `genai-prices`. Default: openai
    #[arg(long, value_name = "PROVIDER")]
    shape: Option<String>,
    /// The output that is held for a request without a limit, in tokens. Default: 4096
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,
    /// What is held for a picture, in tokens. Default: the most that the provider is known to count.
    #[arg(long, value_name = "TOKENS")]
    image_tokens: Option<u64>,
    /// The searches that are held for a request that names no limit of them. Default: 10
    #[arg(long, value_name = "NUMBER")]
    max_searches: Option<u64>,
    /// Hold these dollars for each request, instead of what it may use: for APIs that say what an answer cost.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    hold_usd: Option<String>,
    /// Seconds for which a hold lasts; it is extended while the answer comes.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    ttl_seconds: Option<u32>,
    /// What becomes of the holds of a program that was killed.
    #[arg(long, value_name = "WHAT", default_value = "charge")]
    on_expiry: HoldExpiry,
    /// Requests that may be under way or wait for their settlement. Default: 10000
    #[arg(long, value_name = "NUMBER")]
    max_requests: Option<NonZeroUsize>,
    /// Charge the model that the answer names, not the one that was asked for.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_value_t, default_missing_value = "true")]
    answer_model: bool,
    /// Networks of proxies in front, separated by commas. `X-Forwarded-For` is believed only from these.
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    trusted_proxies: Vec<IpNet>,
    /// Members that bodies may have besides those that are known, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    members: Vec<String>,
    /// Values of `anthropic-beta` that may be sent besides those that are known, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    betas: Vec<String>,
    /// Types of tools and content that no counts tell, separated by commas. They pass, and cost the hold.
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    uncounted: Vec<String>,
    /// Let documents and conversations be named by address or id, although the hold does not know their size.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_value_t, default_missing_value = "true")]
    references: bool,
    /// Models whose API refuses `stream_options`, separated by commas; a * at the end stands for any.
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    without_stream_options: Vec<String>,
    /// Models that show all they think, separated by commas; a * at the end stands for any. A stream of others that
    /// ends early costs the hold.
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    shows_thinking: Vec<String>,
    /// Which lines are logged: info, warn, debug, or by target, as `log.filter` of the server.
    #[arg(long, value_name = "FILTER", env = "KEYMETER_LOG__FILTER", default_value = "info")]
    pub log_filter: String,
}

#[expect(clippy::unnecessary_wraps, reason = "clap wants a result")]
fn hidden(text: &str) -> Result<SecretString, Infallible> {
    Ok(text.into())
}

fn dollars(text: &str) -> Result<String, &'static str> {
    ExactNumber::read(text).map(|_| text.to_owned()).ok_or("must be dollars, such as 0.05")
}

impl DoorArgs {
    /// The settings, with these defaults.
    ///
    /// # Errors
    /// There is no credential, or it cannot be read.
    pub fn settings(self, default: DoorOptions) -> Result<DoorSettings, String> {
        let credential = match (self.credential_file, self.credential) {
            (Some(path), _) => read_secret(&path)?,
            (None, Some(credential)) => credential,
            (None, None) => {
                let command = "`keymeter gateway create NAME` prints a credential";
                return Err(format!("--credential-file is missing: {command}"));
            }
        };
        let meter = MeterSettings {
            shape: self.shape.unwrap_or(default.meter.shape),
            max_tokens: self.max_tokens.unwrap_or(default.meter.max_tokens),
            image_tokens: self.image_tokens,
            max_searches: self.max_searches.unwrap_or(default.meter.max_searches),
            members: self.members,
            betas: self.betas,
            uncounted: self.uncounted,
            references: self.references,
            without_stream_options: self.without_stream_options,
            shows_thinking: self.shows_thinking,
        };
        let options = DoorOptions {
            provider: self.provider,
            hold_usd: self.hold_usd,
            ttl_seconds: self.ttl_seconds.unwrap_or(default.ttl_seconds),
            on_expiry: self.on_expiry,
            max_requests: self.max_requests.unwrap_or(default.max_requests),
            answer_model: self.answer_model,
            trusted_proxies: self.trusted_proxies,
            checks_addresses: default.checks_addresses,
            meter,
        };
        Ok(DoorSettings { url: self.url, credential, options })
    }
}

/// The last word of the first line of a file: commands print a secret after what it is.
///
/// # Errors
/// It cannot be read, or is empty.
pub fn read_secret(path: &Path) -> Result<SecretString, String> {
    let text = read(path)?;
    let word = text.lines().next().and_then(|line| line.split_whitespace().last());
    word.map(|word| word.to_owned().into()).ok_or_else(|| format!("{} is empty", path.display()))
}

/// Lets each option that names no variable be set by one: this prefix and its name.
pub fn with_variables(command: Command, prefix: &str) -> Command {
    command.mut_args(|option| match option.get_env() {
        None if option.get_long().is_some() => {
            let variable = format!("{prefix}{}", option.get_id().as_str().to_uppercase());
            option.env(variable)
        }
        _ => option,
    })
}

/// Lets the members of a section of a settings file be the defaults of the options of these names.
///
/// # Errors
/// The file cannot be read, or a member is no option.
pub fn with_section(command: Command, section: &str, path: &Path) -> Result<Command, String> {
    let wrong = |reason: &str| format!("{}: {reason}", path.display());
    let file: toml::Table = toml::from_str(&read(path)?).map_err(|error| wrong(error.message()))?;
    let Some(members) = file.get(section) else { return Ok(command) };
    let members = members.as_table().ok_or_else(|| wrong(&format!("`{section}` must be a section")))?;
    members.iter().try_fold(command, |command, (name, value)| {
        let is_option = |option: &&clap::Arg| option.get_id() == name && !option.is_hide_set();
        command
            .get_arguments()
            .find(is_option)
            .ok_or_else(|| wrong(&format!("[{section}] has an unknown member `{name}`")))?;
        let values: Vec<String> =
            value.as_array().map_or_else(|| vec![text_of(value)], |values| values.iter().map(text_of).collect());
        Ok(command.mut_arg(name, |option| option.default_values(values)))
    })
}

fn text_of(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        door: DoorArgs,
    }

    fn parsed(section: &str, arguments: &[&str]) -> Result<DoorOptions, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), section).unwrap();
        let command = with_variables(<Program as clap::CommandFactory>::command(), "KEYMETER_TEST_OF_ARGUMENTS__");
        let command = with_section(command, "program", file.path())?;
        let matches = command.try_get_matches_from([&["program"], arguments].concat());
        let matches = matches.map_err(|error| error.to_string())?;
        let mut door = Program::from_arg_matches(&matches).unwrap().door;
        door.credential = Some("kmg_a".to_owned().into());
        Ok(door.settings(DoorOptions::default()).unwrap().options)
    }

    #[test]
    fn an_option_comes_before_the_file_and_the_file_before_the_default() {
        let section = "[program]\nmax_tokens = 7\nmembers = [\"a\", \"b\"]\nanswer_model = true\nttl_seconds = 60\n\
                       trusted_proxies = [\"10.0.0.0/8\"]\n[server]\nlisten = \"a\"\n";
        let options = parsed(section, &["--ttl-seconds=90", "--references"]).unwrap();
        assert_eq!((options.meter.max_tokens, options.ttl_seconds, options.meter.max_searches), (7, 90, 10));
        assert_eq!((options.meter.members, options.trusted_proxies.len()), (vec!["a".to_owned(), "b".to_owned()], 1));
        assert!(options.answer_model && options.meter.references);
        assert_eq!(parsed("", &[]).unwrap().on_expiry, HoldExpiry::Charge);
    }

    #[test]
    fn what_is_misspelt_is_refused() {
        for (section, arguments, says) in [
            ("[program]\nmax_token = 7\n", &[][..], "unknown member `max_token`"),
            ("[program]\ncredential = \"kmg_a\"\n", &[], "unknown member `credential`"),
            ("program = 1\n", &[], "must be a section"),
            ("[program]\nttl_seconds = 0\n", &[], "0 is not in 1..=86400"),
            ("", &["--hold-usd=a"], "must be dollars"),
            ("", &["--on-expiry=keep"], "charge, release"),
            ("", &["--trusted-proxies=here"], "invalid"),
        ] {
            let said = parsed(section, arguments).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
    }
}
