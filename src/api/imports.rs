//! The runs of `keymeter import`, for administrators (docs/moving-in.md).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::Envelope;
use super::state::AppState;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;

/// A run of an import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportRunBody {
    /// Run ID.
    id: i64,
    /// The name of the other installation.
    name: String,
    /// Unix timestamp of its end.
    at: i64,
    /// False if it failed in the middle; the next run adds what is missing.
    complete: bool,
    report: ImportReportBody,
}

/// What an import did. Absent numbers are 0.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportReportBody {
    /// The database that was read, without its credentials.
    source: String,
    /// `new-api` or `one-api`.
    service: String,
    accounts: ImportCountsBody,
    keys: ImportCountsBody,
    access_tokens: ImportCountsBody,
    usage: ImportUsageBody,
    sums: ImportSumsBody,
    /// What was changed or left out, by kind.
    findings: BTreeMap<String, ImportFindingBody>,
    /// Rows and values that are not moved, by kind.
    not_moved: BTreeMap<String, i64>,
    /// What concerns the whole run.
    notes: Vec<ImportNoteBody>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportCountsBody {
    /// Rows in the other database, without deleted ones.
    found: i64,
    /// Imported by this run.
    imported: i64,
    /// Imported by an earlier run.
    present: i64,
    /// Left out; the findings say why.
    left_out: i64,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportUsageBody {
    /// Accounts whose usage this run imported.
    accounts: i64,
    /// Accounts whose usage an earlier run imported.
    present: i64,
    /// Quota units.
    quota: i64,
    requests: i64,
}

/// Sums over the accounts and keys of this run. They differ by the amounts of the findings.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportSumsBody {
    wallets: ImportSumBody,
    wallets_used: ImportSumBody,
    keys_remaining: ImportSumBody,
    keys_used: ImportSumBody,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportSumBody {
    /// Quota units in the other database.
    #[schema(value_type = i64)]
    source: Number,
    /// Quota units here.
    #[schema(value_type = i64)]
    imported: Number,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportFindingBody {
    /// A sentence for people.
    meaning: String,
    /// Rows concerned.
    count: i64,
    /// Quota units in all, for findings about amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false)]
    amount: Option<Number>,
    /// Some of the rows.
    rows: Vec<ImportRowBody>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportRowBody {
    /// The id of the account in the other database.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    user_id: Option<i64>,
    /// The id of the token in the other database.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    token_id: Option<i64>,
    /// What exactly was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    detail: Option<ImportDetailBody>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ImportDetailBody {
    /// A text there, and what it became here.
    Changed { from: String, to: String },
    /// A text there, such as a group, or the entries of a list that were dropped.
    Text { text: String },
    /// An account by its name here, and its role there.
    Account { username: String, role: i64 },
    /// A role there.
    Role { role: i64 },
    /// A status there.
    Status { status: i64 },
    /// An expiry time there.
    Expiry { expired_time: i64 },
    /// The length of a key, in characters.
    Length { length: i64 },
    /// How many entries of a list were dropped.
    Dropped { dropped: i64, of: i64 },
    /// Quota units, on a day or in all.
    Quota {
        quota: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        day: Option<String>,
    },
    /// A day, such as `2026-03-10`.
    Day { day: String },
    /// A column there, and how many rows have a value in it.
    Rows { name: String, rows: i64 },
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImportNoteBody {
    /// `no_logs`, `logs_empty` or `quota_units_differ`.
    code: String,
    /// A sentence for people.
    message: String,
    /// The value of the other service, where a note compares the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    source_value: Option<String>,
    /// The value of this installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    target_value: Option<i64>,
}

/// The latest imports from other services, newest first; at most 10.
#[utoipa::path(get, path = "/api/admin/imports", operation_id = "list_imports", tag = "administration",
    responses((status = 200, body = Envelope<Vec<ImportRunBody>>)))]
pub async fn list(State(app): State<Arc<AppState>>, _: Admin) -> Result<Envelope<Vec<ImportRunBody>>, Fails> {
    let runs = app.imports.list().await?.into_iter().map(|run| {
        let report = serde_json::from_str(&run.report).map_err(|error| {
            ApiError::internal(format_args!("the report of the import {} cannot be read: {error}", run.id))
        })?;
        Ok(ImportRunBody { id: run.id, name: run.source, at: run.at.get(), complete: run.is_complete, report })
    });
    Ok(Envelope::of(runs.collect::<Result<_, ApiError>>()?))
}
