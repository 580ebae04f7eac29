//! Settings as administrators see them.

/// A setting that the server has read. Secrets have no value here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Section and name in the settings file, such as `accounts.registration`.
    pub name: &'static str,
    /// The environment variable that sets it.
    pub variable: String,
    pub value: SettingValue,
    /// Whether the value is that of `config/default.toml`.
    pub is_default: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<String>),
    /// Only whether it is set.
    Secret {
        is_set: bool,
    },
}

impl SettingValue {
    /// As text; `None` for a secret.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::List(items) => Some(items.join(", ")),
            Self::Secret { .. } => None,
        }
    }
}
