//! Where the database of the other service is: a SQLite file, a URL, or the Go DSN that `SQL_DSN` holds.

use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use sqlx_mysql::{MySqlConnectOptions, MySqlSslMode};

/// A database to read.
#[derive(Clone)]
pub enum Location {
    Sqlite(PathBuf),
    MySql(Box<MySqlConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

/// Why a text names no database. The text itself is not repeated: it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationInvalid {
    #[error(
        "there is no file {0}; SOURCE is a SQLite file, a mysql:// or postgres:// URL, or the SQL_DSN of the other service"
    )]
    NoFile(String),
    #[error(
        "SOURCE names no database; it is a SQLite file, a mysql:// or postgres:// URL, or the SQL_DSN of the other service"
    )]
    Unknown,
    #[error("the URL of SOURCE cannot be read; write it as {0}://user:password@host:port/database")]
    Url(&'static str),
    #[error("the DSN of SOURCE cannot be read; write it as user:password@tcp(host:3306)/database")]
    Dsn,
    #[error("ClickHouse cannot be read; import without its history: --history none")]
    ClickHouse,
}

impl Location {
    /// # Errors
    /// See [`LocationInvalid`].
    pub fn parse(text: &str) -> Result<Self, LocationInvalid> {
        let text = text.trim();
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        match scheme.as_str() {
            "postgres" | "postgresql" => PgConnectOptions::from_str(&with_known_parameters(text))
                .map(|options| Self::Postgres(Box::new(options)))
                .map_err(|_| LocationInvalid::Url("postgres")),
            "mysql" | "mariadb" => MySqlConnectOptions::from_str(&with_known_parameters(text))
                .map(|options| Self::MySql(Box::new(options)))
                .map_err(|_| LocationInvalid::Url("mysql")),
            "clickhouse" | "tcp" | "http" | "https" => Err(LocationInvalid::ClickHouse),
            _ if is_dsn(text) => dsn(text).map(|options| Self::MySql(Box::new(options))).ok_or(LocationInvalid::Dsn),
            _ => file(text),
        }
    }

    /// For messages and reports: without user and password.
    pub fn describe(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("SQLite {}", path.display()),
            Self::MySql(options) => {
                let database = options.get_database().unwrap_or_default();
                match options.get_socket() {
                    Some(socket) => format!("MySQL {}/{database}", socket.display()),
                    None => format!("MySQL {}:{}/{database}", options.get_host(), options.get_port()),
                }
            }
            Self::Postgres(options) => {
                let database = options.get_database().unwrap_or_default();
                format!("PostgreSQL {}:{}/{database}", options.get_host(), options.get_port())
            }
        }
    }
}

/// Parameters of URLs that the drivers know. They log others, with their values, which may be secrets.
const PARAMETERS: [&str; 24] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "sslca",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "host",
    "socket",
    "charset",
    "options",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "statement-cache-capacity",
    "collation",
    "timezone",
    "time-zone",
];

/// The URL without the parameters that its driver does not know. `search_path` is one of other drivers.
fn with_known_parameters(url: &str) -> String {
    let Some((address, parameters)) = url.split_once('?') else {
        return url.to_owned();
    };
    let known = parameters.split('&').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        match name {
            "search_path" => Some(format!("options[search_path]={value}")),
            _ if PARAMETERS.contains(&name) || name.starts_with("options[") => Some(parameter.to_owned()),
            _ => None,
        }
    });
    format!("{address}?{}", known.collect::<Vec<_>>().join("&"))
}

/// A Go DSN has credentials, or an address in parentheses, before the name of the database.
fn is_dsn(text: &str) -> bool {
    let is_file = std::path::Path::new(text).exists();
    let before = text.rsplit_once('/').map_or("", |(before, _)| before);
    !is_file && !text.contains("://") && (before.contains('@') || before.ends_with(')'))
}

/// `user:password@tcp(host:port)/database?parameters`. The password may contain any character: the last `/` and the
/// last `@` before it separate.
fn dsn(text: &str) -> Option<MySqlConnectOptions> {
    let (before, database) = text.rsplit_once('/')?;
    let (database, parameters) = database.split_once('?').unwrap_or((database, ""));
    let (credentials, address) = before.rsplit_once('@').unwrap_or(("", before));
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    if database.is_empty() {
        return None;
    }
    let mut options = MySqlConnectOptions::new().database(database).ssl_mode(ssl_mode(parameters));
    if !user.is_empty() {
        options = options.username(user);
    }
    if !password.is_empty() {
        options = options.password(password);
    }
    let (protocol, address) = match address.split_once('(') {
        Some((protocol, address)) => (protocol, address.strip_suffix(')')?),
        None => (address, ""),
    };
    match (protocol, address) {
        ("unix", path) if !path.is_empty() => Some(options.socket(path)),
        ("tcp" | "", "") => Some(options.host("127.0.0.1")),
        ("tcp" | "", address) => {
            let (host, port) = match address.rsplit_once(':') {
                Some((host, port)) if !host.ends_with(':') && (!host.contains(':') || host.ends_with(']')) => {
                    (host, port.parse().ok()?)
                }
                Some(_) | None => (address, 3306),
            };
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Some(options.host(if host.is_empty() { "127.0.0.1" } else { host }).port(port))
        }
        _ => None,
    }
}

/// The meaning of `tls` in a Go DSN.
fn ssl_mode(parameters: &str) -> MySqlSslMode {
    match parameters.split('&').find_map(|parameter| parameter.strip_prefix("tls=")) {
        Some("true") => MySqlSslMode::VerifyIdentity,
        Some("skip-verify") => MySqlSslMode::Required,
        Some("false") => MySqlSslMode::Disabled,
        Some(_) | None => MySqlSslMode::Preferred,
    }
}

/// A SQLite file. `SQLITE_PATH` may carry parameters of the Go driver.
fn file(text: &str) -> Result<Location, LocationInvalid> {
    let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
    let path = path.strip_prefix("file:").unwrap_or(path);
    let without_parameters = path.split_once('?').map_or(path, |(path, _)| path);
    [path, without_parameters]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
        .map(Location::Sqlite)
        .ok_or_else(|| {
            // A database that is written in another way may contain a password.
            let may_be_secret = text.contains("://") || text.contains(['@', ' ']);
            if may_be_secret {
                LocationInvalid::Unknown
            } else {
                LocationInvalid::NoFile(without_parameters.to_owned())
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> Result<String, LocationInvalid> {
        Location::parse(text).map(|location| location.describe())
    }

    #[test]
    fn a_source_is_a_url_a_dsn_or_a_file() {
        let table = [
            ("postgres://u:p@db.example:5433/oneapi?sslmode=disable", "PostgreSQL db.example:5433/oneapi"),
            ("postgresql://u@h/n", "PostgreSQL h:5432/n"),
            ("mysql://u:p@h:3307/newapi", "MySQL h:3307/newapi"),
            ("root:123456@tcp(localhost:3306)/oneapi", "MySQL localhost:3306/oneapi"),
            ("root:p@ss/w:rd)(@tcp(db:3306)/new-api?charset=utf8mb4&parseTime=True", "MySQL db:3306/new-api"),
            ("root@tcp(db)/a", "MySQL db:3306/a"),
            ("root:x@tcp([2001:db8::1]:3306)/a", "MySQL 2001:db8::1:3306/a"),
            ("root:x@tcp/a@tcp(:3306)/b", "MySQL 127.0.0.1:3306/b"),
            ("u:p@/only", "MySQL 127.0.0.1:3306/only"),
            ("u:p@(db:3307)/a", "MySQL db:3307/a"),
            ("u:p@tcp/a", "MySQL 127.0.0.1:3306/a"),
            ("Postgres://u:p@h/n", "PostgreSQL h:5432/n"),
            ("u:p@unix(/run/mysqld.sock)/a", "MySQL /run/mysqld.sock/a"),
        ];
        for (text, expected) in table {
            assert_eq!(described(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn the_parts_of_a_dsn_are_those_that_go_reads() {
        let options = dsn("ro:ot@tcp(db:3310)/x?tls=skip-verify").unwrap();
        assert_eq!((options.get_host(), options.get_port(), options.get_username()), ("db", 3310, "ro"));
        assert_eq!(dsn("root:x@tcp(db)/a").unwrap().get_port(), 3306);
        assert_eq!(
            dsn("u:p@unix(/run/mysqld.sock)/a").unwrap().get_socket().unwrap().to_str(),
            Some("/run/mysqld.sock")
        );
        for (parameters, mode) in [
            ("", "Preferred"),
            ("charset=utf8&tls=true", "VerifyIdentity"),
            ("tls=skip-verify", "Required"),
            ("tls=false", "Disabled"),
        ] {
            assert_eq!(format!("{:?}", ssl_mode(parameters)), mode, "{parameters}");
        }
    }

    #[test]
    fn what_names_no_database_is_refused_without_repeating_a_password() {
        assert_eq!(
            described("/no/such/one-api.db?_busy_timeout=5"),
            Err(LocationInvalid::NoFile("/no/such/one-api.db".into()))
        );
        assert_eq!(described("root:secret@tcp(db:x)/a"), Err(LocationInvalid::Dsn));
        assert_eq!(described("root:secret@tcp(db)/"), Err(LocationInvalid::Dsn));
        assert_eq!(described("postgres://u:secret@h:port/n"), Err(LocationInvalid::Url("postgres")));
        assert_eq!(described("mysql://u:secret@h:port/n"), Err(LocationInvalid::Url("mysql")));
        assert_eq!(described("clickhouse://h:9000/logs"), Err(LocationInvalid::ClickHouse));
        assert_eq!(described("u:secret@h:3306/a"), Err(LocationInvalid::Dsn));
        for text in ["mariadb+pymysql://u:secret@h/a", "host=h password=secret dbname=a", "secret@h", "u:secret@h"] {
            assert_eq!(described(text), Err(LocationInvalid::Unknown), "{text}");
        }
    }

    #[test]
    fn parameters_that_no_driver_knows_are_left_out() {
        let url = "postgres://u:p@h/n?sslmode=require&TimeZone=Asia/Shanghai&sslpassword=x&search_path=old";
        assert_eq!(with_known_parameters(url), "postgres://u:p@h/n?sslmode=require&options[search_path]=old");
        assert_eq!(with_known_parameters("mysql://h/n"), "mysql://h/n");
        let by_parameters = "postgres:///?host=/run/pg&port=5433&dbname=newapi&user=u";
        assert_eq!(described(by_parameters).as_deref(), Ok("PostgreSQL localhost:5433/newapi"));
    }

    #[test]
    fn a_file_may_carry_parameters_of_the_go_driver() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one-api.db");
        std::fs::write(&path, "").unwrap();
        let path = path.to_str().unwrap();
        for text in [path.to_owned(), format!("{path}?_busy_timeout=30000"), format!("sqlite://{path}")] {
            assert_eq!(described(&text), Ok(format!("SQLite {path}")));
        }
    }
}
