//! The setting `database.url`. sqlx takes any scheme for PostgreSQL and ignores options that it does not know; here
//! they are refused by name.

use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use url::Url;

/// The options that are read, by the names that PostgreSQL's own programs have too.
const OPTIONS: [&str; 18] = [
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
];

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

/// Reads a URL.
///
/// # Errors
/// See [`DatabaseUrlInvalid`].
pub fn read(text: &str) -> Result<PgConnectOptions, DatabaseUrlInvalid> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme).ok_or(DatabaseUrlInvalid::Form)?;
    if !["postgres", "postgresql"].contains(&scheme.to_ascii_lowercase().as_str()) {
        let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        return Err(if is_scheme { DatabaseUrlInvalid::Scheme(scheme.to_owned()) } else { DatabaseUrlInvalid::Form });
    }
    let url = Url::parse(text).map_err(|_| DatabaseUrlInvalid::Encoding)?;
    // A `#`, which nothing is behind, is one of a password.
    if url.fragment().is_some() {
        return Err(DatabaseUrlInvalid::Encoding);
    }
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
        let alone = format!(
            "postgres://host/?{}",
            url::form_urlencoded::Serializer::new(String::new()).append_pair(&name, &value).finish()
        );
        if PgConnectOptions::from_str(&alone).is_err() {
            let hint = match &*name {
                "sslmode" | "ssl-mode" => "; use disable, allow, prefer, require, verify-ca or verify-full",
                _ => "",
            };
            return Err(DatabaseUrlInvalid::Value { name: name.into_owned(), value: value.into_owned(), hint });
        }
    }
    PgConnectOptions::from_str(text).map_err(|_| DatabaseUrlInvalid::Encoding)
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
        ] {
            let message = read(bad).unwrap_err().to_string();
            assert!(message.contains(says) && !message.contains("secret"), "{bad}: {message}");
        }
    }
}
