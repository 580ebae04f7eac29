//! Which settings administrators see. What is not listed here is never shown.

use toml::{Table, Value};

use super::{DATABASE_URL, PREFIX};
use crate::domain::setting::{Setting, SettingValue};

const SHOWN: &str = "\
    http.public_url dashboard.name dashboard.logo dashboard.api_base_url accounts.registration accounts.token_api \
    accounts.contact accounts.initial_quota accounts.initial_group accounts.max_tokens tokens.restore_days \
    models.names usage.time_zone usage.week_starts usage.retention_days usage.client_addresses \
    limits.search_per_minute limits.login_per_minute limits.usage_per_minute limits.drop_in_per_minute \
    limits.wrong_keys_per_minute limits.wrong_credentials_per_minute limits.register_per_minute \
    limits.writes_per_minute compat.client compat.list_key compat.first_page compat.unlimited_limit \
    server.trusted_proxies server.metrics cell.label";

/// Shown only as set or not set.
const SECRETS: [&str; 3] = ["database.url", "secrets.master_key", "root.password"];

/// The settings that administrators see, in the order of the list.
pub(super) fn shown(settings: &Table, defaults: &Table) -> Vec<Setting> {
    let plain = SHOWN.split(' ').filter_map(|name| Some((name, plain(find(settings, name)?)?)));
    let secrets = SECRETS.into_iter().filter_map(|name| Some((name, secret(find(settings, name)?))));
    let setting = |(name, value)| Setting {
        name,
        variable: variable(name),
        value,
        is_default: find(settings, name) == find(defaults, name),
    };
    plain.chain(secrets).map(setting).collect()
}

fn find<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    let (section, key) = name.split_once('.')?;
    table.get(section)?.get(key)
}

fn plain(value: &Value) -> Option<SettingValue> {
    match value {
        Value::String(text) => Some(SettingValue::Text(text.clone())),
        Value::Integer(number) => Some(SettingValue::Number(*number)),
        Value::Boolean(flag) => Some(SettingValue::Flag(*flag)),
        Value::Array(items) => {
            Some(SettingValue::List(items.iter().filter_map(Value::as_str).map(str::to_owned).collect()))
        }
        Value::Table(_) | Value::Float(_) | Value::Datetime(_) => None,
    }
}

fn secret(value: &Value) -> SettingValue {
    SettingValue::Secret { is_set: value.as_str().is_some_and(|text| !text.is_empty()) }
}

fn variable(name: &str) -> String {
    match name {
        "database.url" => DATABASE_URL.to_owned(),
        _ => variable_of(name),
    }
}

/// The variable of a setting, by the rule that all have.
pub(super) fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "__").to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, DEFAULTS};

    fn load(variables: &[(&str, &str)]) -> Vec<Setting> {
        let variables = variables.iter().map(|(name, text)| (name.into(), text.into()));
        Config::from_sources(None, variables).unwrap().shown
    }

    #[test]
    fn every_listed_setting_exists_and_its_variable_sets_it() {
        let defaults = load(&[]);
        assert_eq!(defaults.len(), SHOWN.split(' ').count() + SECRETS.len());
        assert!(defaults.iter().all(|setting| setting.is_default));
        let table: Table = DEFAULTS.parse().unwrap();
        for setting in &defaults {
            let known = crate::config::from_environment(&table, &setting.variable, "1");
            assert!(!matches!(known, Err(crate::config::ConfigError::Unknown(..)) | Ok(None)), "{}", setting.variable);
        }
    }

    #[test]
    fn changed_settings_are_shown_as_they_are() {
        let settings = load(&[
            ("KEYMETER_ACCOUNTS__REGISTRATION", "open"),
            ("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "3"),
            ("KEYMETER_MODELS__NAMES", "small, large"),
        ]);
        let found = |name| settings.iter().find(|setting| setting.name == name).unwrap();
        let open = SettingValue::Text("open".to_owned());
        assert_eq!((&found("accounts.registration").value, found("accounts.registration").is_default), (&open, false));
        assert_eq!(found("limits.search_per_minute").value, SettingValue::Number(3));
        let models = SettingValue::List(vec!["small".to_owned(), "large".to_owned()]);
        assert_eq!(found("models.names").value, models);
        assert_eq!(found("limits.login_per_minute").value, SettingValue::Number(10));
    }

    #[test]
    fn secrets_are_only_set_or_not_set() {
        let settings =
            load(&[("DATABASE_URL", "postgres://me:password1@host/db"), ("KEYMETER_ROOT__PASSWORD", "password2")]);
        let found = |name| settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
        assert_eq!(found("database.url"), SettingValue::Secret { is_set: true });
        assert_eq!(found("root.password"), SettingValue::Secret { is_set: true });
        assert_eq!(found("secrets.master_key"), SettingValue::Secret { is_set: false });
        assert!(!format!("{settings:?}").contains("password1") && !format!("{settings:?}").contains("password2"));
    }
}
