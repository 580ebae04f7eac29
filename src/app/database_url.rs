//! The setting `database.url`. sqlx takes any scheme for PostgreSQL and ignores options that it does not know; here
//! they are refused by name.

use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use url::Url;

use crate::storage::Hosts;

/// The options that are read, by the names that PostgreSQL's own programs have too.
const OPTIONS: [&str; 19] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
    SESSION,
];

/// Which of several servers is wanted.
const SESSION: &str = "target_session_attrs";

/// Why it cannot be used. The messages show no user and no password.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseUrlInvalid {
    #[error("it is not postgres://user:password@host:port/name")]
    Form,
    #[error(
        "it is not postgres://user:password@host:port/name; percent-encode special characters of the password: `/` is %2F, `?` %3F, \
         `#` %23, `@` %40, `:` %3A, `%` %25"
    )]
    Encoding,
    #[error("it begins with `{0}://`, and Keymeter needs PostgreSQL: postgres://user:password@host:port/name")]
    Scheme(String),
    #[error("its option `{name}` is not known; the known ones are {known}", known = OPTIONS.join(", "))]
    Option { name: String },
    #[error("its option `{name}` cannot be `{value}`{hint}")]
    Value { name: String, value: String, hint: &'static str },
}

/// Reads a URL. Several hosts, separated by commas, are servers of which one takes writes at a time.
///
/// # Errors
/// See [`DatabaseUrlInvalid`].
pub fn read(text: &str) -> Result<Hosts, DatabaseUrlInvalid> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme).ok_or(DatabaseUrlInvalid::Form)?;
    if !["postgres", "postgresql"].contains(&scheme.to_ascii_lowercase().as_str()) {
        let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        return Err(if is_scheme { DatabaseUrlInvalid::Scheme(scheme.to_owned()) } else { DatabaseUrlInvalid::Form });
    }
    let hosts = one_by_one(text).iter().map(|text| read_one(text)).collect::<Result<Vec<_>, _>>()?;
    let mut hosts = hosts.into_iter();
    let first = hosts.next().ok_or(DatabaseUrlInvalid::Form)?;
    Ok(Hosts::new(first, hosts))
}

/// The same URL with each of its hosts.
fn one_by_one(text: &str) -> Vec<String> {
    let start = text.find("://").map_or(0, |at| at + "://".len());
    let end = text[start..].find(['/', '?', '#']).map_or(text.len(), |at| start + at);
    let hosts = text[start..end].rfind('@').map_or(start, |at| start + at + 1);
    text[hosts..end].split(',').map(|host| format!("{}{host}{}", &text[..hosts], &text[end..])).collect()
}

fn read_one(text: &str) -> Result<PgConnectOptions, DatabaseUrlInvalid> {
    let mut url = Url::parse(text).map_err(|_| DatabaseUrlInvalid::Encoding)?;
    // A `#`, which nothing is behind, is one of a password.
    if url.fragment().is_some() {
        return Err(DatabaseUrlInvalid::Encoding);
    }
    let mut options = Vec::new();
    for (name, value) in url.query_pairs() {
        let is_known = OPTIONS.contains(&&*name) || (name.starts_with("options[") && name.ends_with(']'));
        if !is_known {
            // A `?` of a password begins what looks like an option.
            let is_of_password = text.split_once('?').is_some_and(|(_, behind)| behind.contains('@'));
            return Err(if is_of_password {
                DatabaseUrlInvalid::Encoding
            } else {
                DatabaseUrlInvalid::Option { name: name.into_owned() }
            });
        }
        let hint = match (&*name, &*value) {
            // It is always so.
            (SESSION, "read-write" | "primary") => continue,
            (SESSION, _) => "; Keymeter needs a server that takes writes: use read-write or primary, or leave it out",
            ("host" | "hostaddr" | "port", several) if several.contains(',') => {
                "; name several servers before the database: postgres://user:password@one:5432,two:5432/name"
            }
            _ if is_value(&name, &value) => {
                options.push((name.into_owned(), value.into_owned()));
                continue;
            }
            ("sslmode" | "ssl-mode", _) => "; use disable, allow, prefer, require, verify-ca or verify-full",
            _ => "",
        };
        return Err(DatabaseUrlInvalid::Value { name: name.into_owned(), value: value.into_owned(), hint });
    }
    url.set_query(None);
    if !options.is_empty() {
        url.query_pairs_mut().extend_pairs(options);
    }
    let options = PgConnectOptions::from_str(url.as_str()).map_err(|_| DatabaseUrlInvalid::Encoding)?;
    Ok(options.application_name("keymeter"))
}

/// Returns true if sqlx reads this value of an option.
fn is_value(name: &str, value: &str) -> bool {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
    PgConnectOptions::from_str(&format!("postgres://host/?{query}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_schemes_and_options_are_refused_by_name() {
        for good in [
            "postgres://u:p@h:5432/n",
            "postgresql://h/n?sslmode=verify-full&sslrootcert=/ca.pem",
            "POSTGRES://h/n",
            "postgres:///n?host=/run/postgresql&options=-c%20jit%3Doff",
            "postgres://h/n?options[jit]=off",
            "postgres://u:p%40%23@h/n",
            "postgres://u:p@h:5432,i:5433/n?target_session_attrs=read-write",
            "postgres://h,i?target_session_attrs=primary",
        ] {
            assert!(read(good).is_ok(), "{good}");
        }
        for (bad, says) in [
            ("mysql://u:secret@h/n", "`mysql://`"),
            ("mongodb+srv://u:secret@h/n", "`mongodb+srv://`"),
            ("h:5432/n", "postgres://user:password@host:port/name"),
            ("postgres://u:sec#ret@h/n", "percent-encode"),
            ("postgres://u:sec/ret@h/n", "percent-encode"),
            ("postgres://u:12?secret@h/n", "percent-encode"),
            ("postgres://u:12?secret=1&x@h/n", "percent-encode"),
            ("postgres://h/n?sslmod=require", "`sslmod`"),
            ("postgres://h/n?schema=keys", "`schema`"),
            ("postgres://h/n?sslmode=on", "verify-full"),
            ("postgres://h/n?port=x", "`port` cannot be `x`"),
            ("postgres://h:port/n", "percent-encode"),
            ("postgres://u:secret@h:5432,i:port/n", "percent-encode"),
            ("postgres://h,i/n?target_session_attrs=any", "cannot be `any`; Keymeter needs a server that takes writes"),
            ("postgres:///n?host=h,i", "@one:5432,two:5432/name"),
        ] {
            let message = read(bad).unwrap_err().to_string();
            assert!(message.contains(says) && !message.contains("secret"), "{bad}: {message}");
        }
    }

    #[test]
    fn several_hosts_are_several_servers() {
        let hosts =
            read("postgres://u:p%40@one,two:5433,[::1]:5434/n?sslmode=require&target_session_attrs=primary").unwrap();
        let found: Vec<_> = hosts.all().iter().map(|host| (host.get_host(), host.get_port())).collect();
        assert_eq!(found, [("one", 5432), ("two", 5433), ("[::1]", 5434)]);
        for host in hosts.all() {
            assert_eq!((host.get_username(), host.get_database()), ("u", Some("n")));
            assert_eq!(format!("{:?}", host.get_ssl_mode()), "Require");
        }
    }
}
