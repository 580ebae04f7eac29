//! Settings for administrators. They change only when the server restarts.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::Envelope;
use super::state::AppState;
use crate::domain::group::GroupInfo;
use crate::domain::setting::{Setting, SettingValue};

/// The settings of this server that concern administrators. Secrets are only set or not set.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettingsBody {
    /// By subject; secrets come last.
    settings: Vec<SettingBody>,
    /// The groups, by name. They are the sections `[groups.NAME]` of the settings file.
    groups: Vec<GroupSettingBody>,
}

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettingBody {
    /// Section and name in the settings file, such as `accounts.registration`.
    name: &'static str,
    /// The environment variable that sets it, too.
    variable: String,
    /// The value; null for a secret.
    value: Option<SettingValueBody>,
    /// Whether the value may not be shown.
    is_secret: bool,
    /// Whether it has a value: not an empty text or list.
    is_set: bool,
    /// Whether it has its default value.
    is_default: bool,
}

/// The value of a setting.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SettingValueBody {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<String>),
}

/// A group.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupSettingBody {
    /// Its name.
    name: String,
    /// Shown to users.
    description: String,
    /// The price factor that gateways apply.
    ratio: String,
    /// Whether every user may choose it, or only users of this group.
    open: bool,
}

impl From<&Setting> for SettingBody {
    fn from(setting: &Setting) -> Self {
        let (value, is_set) = match &setting.value {
            SettingValue::Text(text) => (Some(SettingValueBody::Text(text.clone())), !text.is_empty()),
            SettingValue::Number(number) => (Some(SettingValueBody::Number(*number)), true),
            SettingValue::Flag(flag) => (Some(SettingValueBody::Flag(*flag)), true),
            SettingValue::List(items) => (Some(SettingValueBody::List(items.clone())), !items.is_empty()),
            SettingValue::Secret { is_set } => (None, *is_set),
        };
        Self {
            name: setting.name,
            variable: setting.variable.clone(),
            is_secret: value.is_none(),
            value,
            is_set,
            is_default: setting.is_default,
        }
    }
}

impl From<(&str, &GroupInfo)> for GroupSettingBody {
    fn from((name, info): (&str, &GroupInfo)) -> Self {
        Self {
            name: name.to_owned(),
            description: info.description.clone(),
            ratio: info.ratio.to_string(),
            open: info.open,
        }
    }
}

/// What is set, and the names of the settings. They are changed in the settings file or in the environment.
#[utoipa::path(get, path = "/api/admin/settings", operation_id = "list_settings", tag = "administration",
    responses((status = 200, body = Envelope<SettingsBody>)))]
pub async fn list(State(app): State<Arc<AppState>>, _: Admin) -> Envelope<SettingsBody> {
    Envelope::of(SettingsBody {
        settings: app.settings.shown.iter().map(SettingBody::from).collect(),
        groups: app.tokens.groups().all().map(GroupSettingBody::from).collect(),
    })
}
