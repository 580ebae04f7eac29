//! Settings: `config/default.toml`, overridden by a file, overridden by environment variables.
//!
//! The default file is the schema: a setting that it does not contain is refused by name, and an environment variable
//! has the type of the default.

mod sections;
mod service_links;
mod shown;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

pub use self::sections::*;
use self::service_links::is_service_link;

use crate::domain::group::GroupInfo;
use crate::domain::price_settings::PriceSettings;
use crate::domain::setting::Setting;

/// Every setting, documented.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

const PREFIX: &str = "KEYMETER_";

/// The other name of `KEYMETER_DATABASE__URL`.
const DATABASE_URL: &str = "DATABASE_URL";

/// Variables of the project's own tests, which are not settings.
const TEST_PREFIX: &str = "KEYMETER_TEST_";

/// Variables of `keymeter front`, which has a section of its own in the file too.
const FRONT_PREFIX: &str = "KEYMETER_FRONT__";
const FRONT_SECTION: &str = "front";

/// Variables of programs that call Keymeter. They are often set for everything on a machine, so the service ignores
/// them.
const CLIENT_VARIABLES: [&str; 4] =
    ["KEYMETER_URL", "KEYMETER_CREDENTIAL", "KEYMETER_ACCESS_TOKEN", "KEYMETER_PROFILE"];

/// All settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub data_dir: PathBuf,
    pub server: ServerSettings,
    pub http: HttpSettings,
    pub dashboard: DashboardSettings,
    pub database: DatabaseSettings,
    pub cell: CellSettings,
    pub secrets: SecretsSettings,
    pub root: RootSettings,
    pub accounts: AccountsSettings,
    pub tokens: TokensSettings,
    pub limits: LimitsSettings,
    pub usage: UsageSettings,
    pub ledger: LedgerSettings,
    pub compat: CompatSettings,
    pub log: LogSettings,
    pub models: ModelsSettings,
    pub groups: BTreeMap<String, GroupInfo>,
    pub prices: PriceSettings,
    /// The file that they were read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// The settings that administrators see.
    #[serde(skip)]
    pub shown: Vec<Setting>,
}

/// Why the settings cannot be used. Each message is one line.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the settings file {path}: {cause}")]
    File { path: PathBuf, cause: std::io::Error },
    #[error("the settings file {path} is not valid TOML: {cause}")]
    Toml { path: PathBuf, cause: String },
    /// The name, and a known one that is like it, as `; the nearest is …`.
    #[error("unknown setting {0}{1}; config/default.toml lists all settings")]
    Unknown(String, String),
    /// The name of the setting or variable, and the reason.
    #[error("the setting {0} cannot be used: {1}")]
    Value(String, String),
}

impl Config {
    /// `data_dir` unless it is set.
    pub const DEFAULT_DATA_DIR: &str = "./data";

    /// Reads the settings from `file` and from the environment of this process.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        Self::from_sources(file, std::env::vars_os())
    }

    /// Like [`load`](Self::load), with the variables given.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn from_sources(
        file: Option<&Path>,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut settings = parse(DEFAULTS, Path::new("config/default.toml"))?;
        let schema = settings.clone();
        if let Some(path) = file {
            let mut file = parse(&read(path)?, path)?;
            file.remove(FRONT_SECTION);
            merge(&mut settings, file, "")?;
        }
        let mut variables: Vec<_> = variables.collect();
        variables.sort();
        for (name, value) in variables {
            // Most are of other programs, and may be anything.
            let name = name.to_string_lossy();
            if !is_setting(&name) {
                continue;
            }
            let text = value
                .into_string()
                .map_err(|_| ConfigError::Value(name.clone().into_owned(), "its value is not UTF-8".to_owned()))?;
            if is_service_link(&name, &text) {
                continue;
            }
            if let Some((path, value)) = from_environment(&schema, &name, &text)? {
                set(&mut settings, &path, value);
            }
        }
        let shown = shown::shown(&settings, &schema);
        let config: Self = deserialize(settings, "")?;
        Ok(Self { file: file.map(Path::to_owned), shown, ..config })
    }
}

fn read(file: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(file).map_err(|cause| ConfigError::File { path: file.to_owned(), cause })
}

/// Reads a type from settings. `section` is where they are; empty for all.
fn deserialize<T: serde::de::DeserializeOwned>(settings: Table, section: &str) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(Value::Table(settings)).map_err(|error| {
        let path = match (section, error.path().to_string()) {
            ("", path) => path,
            (section, path) if path == "." => section.to_owned(),
            (section, path) => format!("{section}.{path}"),
        };
        let cause = error.into_inner().to_string();
        ConfigError::Value(path, cause.lines().next().unwrap_or_default().to_owned())
    })
}

fn parse(text: &str, path: &Path) -> Result<Table, ConfigError> {
    text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        ConfigError::Toml { path: path.to_owned(), cause: format!("line {line}: {}", error.message()) }
    })
}

/// Sections of names that the settings choose. A file replaces them as a whole.
const NAMED: [&str; 2] = ["groups", "prices"];

/// Merges `over` into `under`. A key that `under` does not have is unknown, except in [`NAMED`] sections.
fn merge(under: &mut Table, over: Table, at: &str) -> Result<(), ConfigError> {
    for (key, value) in over {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        match (under.get_mut(&key), value) {
            (None, _) => {
                let all: Vec<_> =
                    under.keys().map(|key| if at.is_empty() { key.clone() } else { format!("{at}.{key}") }).collect();
                let hint = nearest(&path, all.iter().map(String::as_str));
                return Err(ConfigError::Unknown(path, hint));
            }
            (Some(under), value) if NAMED.contains(&path.as_str()) => *under = value,
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over, &path)?,
            (Some(Value::Table(_)), _) => return Err(ConfigError::Value(path, "it is a section".into())),
            (Some(under), value) => *under = value,
        }
    }
    Ok(())
}

/// Returns true if a variable of this name must be a setting.
fn is_setting(name: &str) -> bool {
    name == DATABASE_URL
        || (name.starts_with(PREFIX)
            && ![TEST_PREFIX, FRONT_PREFIX].iter().any(|prefix| name.starts_with(prefix))
            && !CLIENT_VARIABLES.contains(&name))
}

/// A known name that differs by `_`, case or two letters, for a message; empty if none does.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let fold = |name: &str| name.replace(['_', '.'], "").to_lowercase();
    let folded = fold(name);
    let distance = |known: &&str| strsim::damerau_levenshtein(&folded, &fold(known));
    match known.min_by_key(distance).filter(|known| distance(known) <= 2) {
        Some("KEYMETER_DATABASE__URL") => format!("; the nearest is KEYMETER_DATABASE__URL, or {DATABASE_URL}"),
        Some(known) => format!("; the nearest is {known}"),
        None => String::new(),
    }
}

/// The paths of all settings of a table.
fn paths(table: &Table, at: &str) -> Vec<String> {
    table
        .iter()
        .flat_map(|(key, value)| match value.as_table() {
            Some(table) => paths(table, &format!("{at}{key}.")),
            None => vec![format!("{at}{key}")],
        })
        .collect()
}

/// The path and value of the setting that an environment variable sets. `None` if it is not a setting.
fn from_environment(schema: &Table, name: &str, text: &str) -> Result<Option<(Vec<String>, Value)>, ConfigError> {
    let path: Vec<String> = match name {
        DATABASE_URL => vec!["database".into(), "url".into()],
        "KEYMETER_DATA_DIR" => vec!["data_dir".into()],
        _ if !is_setting(name) => return Ok(None),
        _ => match name.strip_prefix(PREFIX) {
            Some(rest) => rest.split("__").map(str::to_lowercase).collect(),
            None => return Ok(None),
        },
    };
    let mut known = None;
    let mut table = Some(schema);
    for key in &path {
        known = table.and_then(|table| table.get(key));
        table = known.and_then(Value::as_table);
    }
    let wrong = |cause: &str| ConfigError::Value(name.to_owned(), cause.to_owned());
    let value = match known {
        Some(Value::String(_)) => Value::String(text.to_owned()),
        Some(Value::Integer(_)) => Value::Integer(text.trim().parse().map_err(|_| wrong("it must be a whole number"))?),
        Some(Value::Boolean(_)) => Value::Boolean(text.trim().parse().map_err(|_| wrong("it must be true or false"))?),
        Some(Value::Array(_)) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
        }
        Some(Value::Table(_) | Value::Float(_) | Value::Datetime(_)) | None => {
            let all: Vec<_> = paths(schema, "").iter().map(|path| shown::variable_of(path)).collect();
            return Err(ConfigError::Unknown(name.to_owned(), nearest(name, all.iter().map(String::as_str))));
        }
    };
    Ok(Some((path, value)))
}

fn set(settings: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [key] => {
            settings.insert(key.clone(), value);
        }
        [section, rest @ ..] => {
            if let Some(Value::Table(table)) = settings.get_mut(section) {
                set(table, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_sources(None, variables.iter().map(|(name, value)| (name.into(), value.into())))
    }

    fn load_file(text: &str) -> Result<Config, ConfigError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Config::from_sources(Some(file.path()), std::iter::empty())
    }

    #[test]
    fn the_defaults_are_complete_and_those_of_the_specification() {
        let config = load(&[("PATH", "/bin"), ("KEYMETER_TEST_FSYNC", "on")]).unwrap();
        assert_eq!(config.server.listen, "127.0.0.1:3000");
        assert_eq!(config.limits.search_per_minute, 10);
        assert!(config.database.url.is_none());
        assert!(config.groups.contains_key("default"));
    }

    #[test]
    fn the_environment_has_the_types_of_the_defaults() {
        let config = load(&[
            ("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "0"),
            ("KEYMETER_ROOT__PASSWORD", "12345678"),
            ("KEYMETER_HTTP__ERRORS_AS_200", "true"),
            ("KEYMETER_SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1/128"),
            ("KEYMETER_DATA_DIR", "/var/lib/keymeter"),
            ("DATABASE_URL", "postgres://somewhere/x"),
        ])
        .unwrap();
        assert_eq!(config.limits.search_per_minute, 0);
        assert!(config.root.password.is_some() && config.http.errors_as_200);
        assert_eq!(config.server.trusted_proxies.len(), 2);
        assert_eq!(config.data_dir, Path::new("/var/lib/keymeter"));
        assert!(!format!("{config:?}").contains("12345678"));
        assert!(!format!("{config:?}").contains("somewhere"));
    }

    #[test]
    fn variables_of_clients_are_ignored_and_others_like_them_are_not() {
        let config = load(&[
            ("KEYMETER_URL", "https://keys.example.org"),
            ("KEYMETER_CREDENTIAL", "kmg_x"),
            ("KEYMETER_ACCESS_TOKEN", "kma_x"),
            ("KEYMETER_PROFILE", "work"),
        ]);
        assert!(!format!("{:?}", config.unwrap()).contains("kmg_x"));
        for name in ["KEYMETER_URLS", "KEYMETER_CREDENTIAL_FILE", "KEYMETER_TOKEN"] {
            let refused = load(&[(name, "x")]).map(drop).map_err(|error| error.to_string());
            let unknown = format!("unknown setting {name}; config/default.toml lists all settings");
            assert_eq!(refused, Err(unknown));
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let message = |result: Result<Config, ConfigError>| result.unwrap_err().to_string();
        for (name, known) in [
            ("KEYMETER_DATABASE_URL", "KEYMETER_DATABASE__URL, or DATABASE_URL"),
            ("KEYMETER_SERVER_LISTEN", "KEYMETER_SERVER__LISTEN"),
            ("KEYMETER_SERVER__LISTN", "KEYMETER_SERVER__LISTEN"),
        ] {
            let unknown =
                format!("unknown setting {name}; the nearest is {known}; config/default.toml lists all settings");
            assert_eq!(message(load(&[(name, "x")])), unknown);
        }
        let unknown = "unknown setting KEYMETER_LIMITS__SERCH; config/default.toml lists all settings";
        assert_eq!(message(load(&[("KEYMETER_LIMITS__SERCH", "1")])), unknown);
        assert_eq!(
            message(load(&[("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "ten")])),
            "the setting KEYMETER_LIMITS__SEARCH_PER_MINUTE cannot be used: it must be a whole number"
        );
        assert!(message(load(&[("KEYMETER_USAGE__TIME_ZONE", "Mars")])).contains("\"Mars\" is not a time zone"));
        assert!(message(load(&[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "-1")])).contains("limits.login_per_minute"));
        for setting in ["max_connections", "header_timeout_seconds", "idle_timeout_seconds"] {
            let refused = message(load_file(&format!("[server]\n{setting} = 0")));
            assert!(refused.starts_with(&format!("the setting server.{setting} cannot be used: ")), "{refused}");
        }
        let refused = message(load(&[("KEYMETER_COMPAT__FIRST_PAGE", "2")]));
        assert!(refused.starts_with("the setting compat.first_page cannot be used: it must be 0 or 1"), "{refused}");
        assert_eq!(
            message(load_file("[server]\nport = 1")),
            "unknown setting server.port; config/default.toml lists all settings"
        );
        for bad in ["llm.example.org", "ftp://llm.example.org", "https://", "https://llm.example.org/'"] {
            let refused = message(load(&[("KEYMETER_DASHBOARD__API_BASE_URL", bad)]));
            assert!(refused.contains("is not an address, such as \"https://llm.example.org/v1\""), "{refused}");
        }
        assert!(message(load_file("[server\n")).contains("is not valid TOML: line 1"));
        assert!(message(load_file("server = 1")).contains("it is a section"));
        assert!(
            message(Config::from_sources(Some(Path::new("/nowhere.toml")), std::iter::empty()))
                .contains("/nowhere.toml")
        );
    }

    #[test]
    fn the_name_and_the_contact_are_one_short_line_of_visible_characters() {
        let read = |name: &str, contact: &str| {
            let config = load(&[("KEYMETER_DASHBOARD__NAME", name), ("KEYMETER_ACCOUNTS__CONTACT", contact)]);
            config.map(|config| (config.dashboard.name, config.accounts.contact)).map_err(|error| error.to_string())
        };
        let both = |name: &str, contact: &str| Ok((name.to_owned(), contact.to_owned()));
        assert_eq!(read("", ""), both("Keymeter", ""));
        assert_eq!(read(" Ships & Co. ", " keys@example.org\n"), both("Ships & Co.", "keys@example.org"));
        let (longest_name, longest_contact) = ("ü".repeat(100), "ü".repeat(255));
        assert_eq!(read(&longest_name, &longest_contact), both(&longest_name, &longest_contact));
        let refused = |setting: &str, max: usize| {
            let rule = format!("it must have at most {max} characters, without control or invisible characters");
            Err(format!("the setting {setting} cannot be used: {rule}"))
        };
        for bad in ["ü".repeat(101).as_str(), "Ships\nCo.", "Ships\u{202e}Co."] {
            assert_eq!(read(bad, ""), refused("dashboard.name", 100), "{bad:?}");
        }
        for bad in ["ü".repeat(256).as_str(), "keys\n@example.org", "room\u{7}12", "room\u{200b}12"] {
            assert_eq!(read("", bad), refused("accounts.contact", 255), "{bad:?}");
        }
    }

    #[test]
    fn prices_are_read_with_the_settings() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            let all = Config::from_sources(Some(file.path()), std::iter::empty()).map(|config| config.prices);
            all.map_err(|error| error.to_string())
        };
        assert_eq!(read(""), Ok(PriceSettings::default()));
        let list = read("[prices]\n\"gpt-5.5*\" = { prompt = \"5\", completion = \"30\" }\n").unwrap();
        assert_eq!(list.all().find(|(name, _)| *name == "gpt-5.5*").unwrap().1.rates.completion.to_string(), "30");
        let refused = |text| read(text).unwrap_err();
        assert_eq!(
            refused("[prices]\n\"a.b\" = { prompt = \"5\" }\n"),
            "the setting prices.a.b cannot be used: `prompt` and `completion` are required, unless there is a price for the `request`"
        );
        assert_eq!(
            refused("[prices.gpt]\nprompt = 5\n"),
            "the setting prices.gpt.prompt cannot be used: invalid type: integer `5`, expected a string"
        );
        let star = "the setting prices cannot be used: the model \"g*t\" has a `*` that is not its last character";
        assert_eq!(refused("[prices.\"g*t\"]\nrequest = \"5\"\n"), star);
    }

    #[test]
    fn a_ratio_that_is_no_factor_is_refused() {
        let refused = load_file("[groups.default]\ndescription = \"\"\nratio = \"-1\"\n").unwrap_err().to_string();
        let why = "must be a number as text, such as \"0.5\": from 0 to 1000000, with 9 decimals at most";
        assert_eq!(refused, format!("the setting groups.default.ratio cannot be used: {why}"));
    }

    #[test]
    fn a_file_changes_only_what_it_names_and_replaces_groups() {
        let config =
            load_file("[limits]\nsearch_per_minute = 3\n[groups.vip]\ndescription = \"V\"\nratio = \"2\"\n").unwrap();
        assert_eq!(config.limits.search_per_minute, 3);
        assert_eq!(config.limits.usage_per_minute, 60);
        assert_eq!(config.groups.keys().collect::<Vec<_>>(), ["vip"]);
    }
}
