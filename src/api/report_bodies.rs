//! Usage reports as they are answered, in JSON and CSV (spec §13.6).

use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::csv::{cells, csv};
use super::page::RowPageBody;
use super::usage::Dollars;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::page::PageRequest;
use crate::domain::time::UnixTime;
use crate::domain::usage_comparison::AmountsChange;
use crate::domain::usage_report::{Amounts, ReportRow, UsageReport};
use crate::domain::usage_report_request::Dimension;

/// What was used.
#[derive(Debug, Serialize, ToSchema)]
pub struct AmountsBody {
    /// Spend, quota units.
    quota: i64,
    /// Spend, USD.
    usd: Dollars,
    /// Number of requests.
    requests: i64,
    /// Input tokens.
    prompt_tokens: i64,
    /// Output tokens.
    completion_tokens: i64,
}

impl From<Amounts> for AmountsBody {
    fn from(amounts: Amounts) -> Self {
        Self {
            quota: amounts.quota.get(),
            usd: Dollars::from(amounts.quota.usd()),
            requests: amounts.requests,
            prompt_tokens: amounts.prompt_tokens,
            completion_tokens: amounts.completion_tokens,
        }
    }
}

impl From<AmountsChange> for AmountsBody {
    fn from(change: AmountsChange) -> Self {
        Self {
            quota: change.quota,
            usd: change.usd.into(),
            requests: change.requests,
            prompt_tokens: change.prompt_tokens,
            completion_tokens: change.completion_tokens,
        }
    }
}

/// What was used, in a comparison beside what was used in the other range.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComparedBody {
    #[serde(flatten)]
    amounts: AmountsBody,
    /// What was used in the other range. Absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    before: Option<AmountsBody>,
    /// The difference; a number is negative if less was used than before. Absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    change: Option<AmountsBody>,
}

impl ComparedBody {
    fn new(amounts: Amounts, before: Option<Amounts>) -> Self {
        Self {
            amounts: amounts.into(),
            before: before.map(AmountsBody::from),
            change: before.map(|before| AmountsChange::between(before, amounts).into()),
        }
    }
}

/// A line of a report. What it is not grouped by is absent.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::option_option, reason = "a gateway that is not known is null, which is not absent")]
pub struct ReportRowBody {
    /// YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// YYYY-MM.
    #[serde(skip_serializing_if = "Option::is_none")]
    month: Option<String>,
    /// Unix timestamp of the start of an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hour: Option<i64>,
    /// User ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<i64>,
    /// The username.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// The name that other people see; empty for deleted accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    display_name: Option<String>,
    /// The e-mail address; may be empty, and is for deleted accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<String>,
    /// Token ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<i64>,
    /// The present name of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_name: Option<String>,
    /// The present group of the token, or its owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    group: Option<String>,
    /// The model, as the gateway named it; empty if it named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The gateway; null if there was none, or if it is not known any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway_id: Option<Option<i64>>,
    /// Its name; empty if it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway_name: Option<String>,
    #[serde(flatten)]
    amounts: ComparedBody,
}

/// Usage of a range of days, grouped.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportBody {
    /// The first day, YYYY-MM-DD.
    from: String,
    /// The last day, YYYY-MM-DD.
    to: String,
    /// The time zone of the days.
    time_zone: String,
    /// The first day of the range that it is compared with, YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    compare_from: Option<String>,
    /// The last day of that range, YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    compare_to: Option<String>,
    /// What the rows are grouped by.
    group_by: Vec<&'static str>,
    /// The sum of all rows.
    total: ComparedBody,
    /// By hour, day or month, if grouped by it, else the highest spend or the largest change first. Grouped by day or
    /// hour alone, every day or hour has a row. A comparison has a row for what was used in either range.
    rows: Vec<ReportRowBody>,
    #[serde(flatten)]
    page: RowPageBody,
}

impl ReportRowBody {
    fn new(report: &UsageReport, row: &ReportRow) -> Self {
        let has = |dimension| report.grouping.has(dimension);
        let key = &row.key;
        let user = key.user_id.map(|id| report.users.get(&id).cloned().unwrap_or_default());
        let gateway_name = key.gateway_id.and_then(|id| report.gateway_names.get(&id).cloned());
        Self {
            date: key.day.filter(|_| has(Dimension::Day)).map(|day| day.to_string()),
            month: key.day.filter(|_| has(Dimension::Month)).map(|day| day.date().format("%Y-%m").to_string()),
            hour: key.hour.map(UnixTime::get),
            user_id: key.user_id.map(UserId::get),
            username: user.as_ref().map(|user| user.username.clone()),
            display_name: user.as_ref().map(|user| user.display_name.clone()),
            email: user.map(|user| user.email),
            token_id: key.token_id.map(TokenId::get),
            token_name: key.token_id.map(|id| report.token_names.get(&id).cloned().unwrap_or_default()),
            group: has(Dimension::Group).then(|| key.group.clone().unwrap_or_default()),
            model: key.model.clone(),
            gateway_id: has(Dimension::Gateway).then(|| key.gateway_id.map(GatewayId::get)),
            gateway_name: has(Dimension::Gateway).then(|| gateway_name.unwrap_or_default()),
            amounts: ComparedBody::new(row.amounts, row.before),
        }
    }
}

impl ReportBody {
    /// With this page of the rows, or all of them.
    pub(super) fn new(report: &UsageReport, page: Option<PageRequest>, time_zone: String) -> Self {
        let compared = report.comparison.map(|comparison| comparison.span);
        let rows: Vec<&ReportRow> = report.rows.iter().collect();
        let (rows, page) = match page {
            None => (rows, RowPageBody::default()),
            Some(request) => {
                let page = request.of(rows);
                let numbers = RowPageBody::of(&page);
                (page.items, numbers)
            }
        };
        Self {
            rows: rows.into_iter().map(|row| ReportRowBody::new(report, row)).collect(),
            page,
            from: report.span.from.to_string(),
            to: report.span.to.to_string(),
            time_zone,
            compare_from: compared.map(|span| span.from.to_string()),
            compare_to: compared.map(|span| span.to.to_string()),
            group_by: report.grouping.dimensions().map(Dimension::as_str).collect(),
            total: ComparedBody::new(report.total, report.total_before),
        }
    }
}

/// The columns of amounts in CSV.
const AMOUNTS: &str = "requests,prompt_tokens,completion_tokens,quota,usd";

/// The columns of the dimensions and the amounts; in a comparison also what was used before, and the change.
pub(super) fn csv_of(report: UsageReport, bom: bool) -> Response {
    let mut columns = String::new();
    for dimension in report.grouping.dimensions() {
        columns.push_str(match dimension {
            Dimension::Hour => "hour,",
            Dimension::Day => "date,",
            Dimension::Month => "month,",
            Dimension::User => "user_id,username,display_name,email,",
            Dimension::Token => "token_id,token_name,",
            Dimension::Group => "group,",
            Dimension::Model => "model,",
            Dimension::Gateway => "gateway_id,gateway_name,",
        });
    }
    columns.push_str(AMOUNTS);
    let compared = ["before", "change"].into_iter().filter(|_| report.comparison.is_some());
    let compared = compared.flat_map(|part| AMOUNTS.split(',').map(move |name| format!("{name}_{part}")));
    let header = std::iter::once(columns.clone()).chain(compared).collect::<Vec<_>>().join(",");
    let name = format!("usage_{}_{}.csv", report.span.from, report.span.to);
    let rows = (0..report.rows.len()).filter_map(move |at| {
        let row = ReportRowBody::new(&report, report.rows.get(at)?);
        let compared = row.amounts.before.iter().chain(&row.amounts.change);
        let compared = compared.flat_map(|amounts| cells(AMOUNTS, amounts));
        Some(cells(&columns, &row).into_iter().chain(compared).collect::<Vec<_>>())
    });
    csv(&name, &header, rows, bom)
}
