//! The price list that administrators set (spec §11, Price list).

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::{Envelope, NoStore};
use super::etag::{IfMatch, Tagged};
use super::extract::{Id, Json};
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidIfMatch, InvalidPrices, InvalidText, NotFound, PricesChanged, PricesNeedAcceptance,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::{About, ApiError};
use crate::domain::prices::list_changes::RateChange;
use crate::domain::prices::version::PriceVersion;
use crate::domain::text;
use crate::service::price_versions::{PriceChange, SetPricesError, ShownPrices};
use crate::service::published_prices::LeftOut;

/// The largest list; the published data has 0.8 MB.
const MAX_LIST: usize = 16 * 1024 * 1024;

/// A new price list. What is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPricesBody {
    /// One's own prices: `providers`, the ids of those whose models count; `models`, prices by name; `units`.
    #[schema(value_type = Option<Object>)]
    file: Option<Box<RawValue>>,
    /// The providers and their models, as `genai-prices` publishes them.
    #[schema(value_type = Option<Vec<Object>>)]
    data: Option<Box<RawValue>>,
    /// The number of a former version, which is set again.
    version: Option<i64>,
    /// Why, for the list of versions.
    note: Option<String>,
    /// The list may move rates beyond half or double, and take the price from a model that was charged in the last 30
    /// days.
    accept: Option<bool>,
}

impl SetPricesBody {
    fn change(self) -> Result<PriceChange, ApiError> {
        let json = |value: Option<Box<RawValue>>| value.map(|value| value.get().to_owned());
        Ok(PriceChange {
            file: json(self.file),
            data: json(self.data),
            version: self.version,
            note: text::multiline("note", self.note.as_deref().unwrap_or_default())?,
            is_accepted: self.accept.unwrap_or(false),
        })
    }
}

/// A version of the price list, without the list.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriceVersionBody {
    /// Ascends with each list that is set; the highest is in force. 0: none was set.
    number: i64,
    /// Unix timestamp.
    created_time: i64,
    /// The administrator who set it.
    created_by: i64,
    /// Why it was set.
    note: String,
}

impl From<PriceVersion> for PriceVersionBody {
    fn from(version: PriceVersion) -> Self {
        Self {
            number: version.number,
            created_time: version.created_time.get(),
            created_by: version.created_by.get(),
            note: version.note,
        }
    }
}

/// A version of the price list.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriceListBody {
    #[serde(flatten)]
    version: PriceVersionBody,
    /// One's own prices, as they were sent.
    #[schema(value_type = Object)]
    file: Box<RawValue>,
    /// The size of the published data, in bytes.
    data_bytes: usize,
    /// The published data, as they were sent; only of a version that was asked for by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    data: Option<Box<RawValue>>,
    /// Models of the providers that count which have no price here.
    left_out: Vec<LeftOutBody>,
}

/// A model that has no price.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftOutBody {
    /// The id of its provider.
    provider: String,
    /// The id of the model.
    model: String,
    /// Why.
    reason: String,
}

impl From<LeftOut> for LeftOutBody {
    fn from(left_out: LeftOut) -> Self {
        let LeftOut { provider, model, reason } = left_out;
        Self { provider, model, reason }
    }
}

/// What a list would change.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComparedPricesBody {
    /// The number of the version in force, with which it was compared.
    number: i64,
    /// All rates that are others, by name. The names that a model goes by are not compared.
    changes: Vec<RateChangeBody>,
    /// Why it could only be set with `accept`; empty if it could be set without.
    need_acceptance: Vec<String>,
    /// Models of the providers that count which would have no price.
    left_out: Vec<LeftOutBody>,
}

/// A rate that is another one.
#[derive(Debug, Serialize, ToSchema)]
pub struct RateChangeBody {
    /// The name of the model, that of a provider as `provider/model`.
    model: String,
    /// The unit, after the context and the time that the rate is for; empty if the name takes a provider's price.
    rate: String,
    /// As decimal text, with tiers; null if there is none in force.
    from: Option<String>,
    /// Null if there would be none.
    to: Option<String>,
}

impl From<RateChange> for RateChangeBody {
    fn from(RateChange { name, rate, from, to }: RateChange) -> Self {
        Self { model: name, rate, from, to }
    }
}

impl PriceListBody {
    fn new(shown: ShownPrices, with_data: bool) -> Result<Self, ApiError> {
        let json = |text: String| RawValue::from_string(text).map_err(ApiError::internal);
        let data_bytes = shown.texts.data.len();
        Ok(Self {
            version: shown.version.into(),
            file: json(shown.texts.file)?,
            data_bytes,
            data: if with_data { Some(json(shown.texts.data)?) } else { None },
            left_out: shown.left_out.into_iter().map(LeftOutBody::from).collect(),
        })
    }

    /// What is answered before a list was set.
    fn none() -> Result<Self, ApiError> {
        let version = PriceVersionBody { number: 0, created_time: 0, created_by: 0, note: String::new() };
        let file = RawValue::from_string("{}".to_owned()).map_err(ApiError::internal)?;
        Ok(Self { version, file, data_bytes: 0, data: None, left_out: Vec::new() })
    }
}

type ListAnswer = Tagged<NoStore<Envelope<PriceListBody>>>;

fn answer(body: PriceListBody) -> ListAnswer {
    Tagged(body.version.number, NoStore(Envelope::of(body)))
}

/// The price list in force, with its number as `ETag`.
#[utoipa::path(get, path = "/api/admin/prices", operation_id = "show_price_list", tag = "administration",
    responses((status = 200, body = Envelope<PriceListBody>)))]
pub async fn show(State(app): State<Arc<AppState>>, _: Admin) -> Result<ListAnswer, Fails> {
    let shown = app.price_versions.show(None).await?;
    Ok(answer(shown.map_or_else(PriceListBody::none, |shown| PriceListBody::new(shown, false))?))
}

/// Set the price list: it is checked, and in force on all servers when this is answered.
#[utoipa::path(put, path = "/api/admin/prices", operation_id = "set_price_list", tag = "administration",
    request_body = SetPricesBody, params(("If-Match" = Option<String>, Header)),
    responses((status = 200, body = Envelope<PriceListBody>)))]
pub async fn set(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    IfMatch(expected): IfMatch,
    Json(body): Json<SetPricesBody, MAX_LIST>,
) -> Result<
    ListAnswer,
    Fails<(InvalidIfMatch, InvalidPrices, InvalidText, NotFound, PricesChanged, PricesNeedAcceptance)>,
> {
    let shown = app.price_versions.set(&admin, body.change()?, expected).await?;
    Ok(answer(PriceListBody::new(shown, false)?))
}

/// What a list would change, compared with the one in force. Nothing is set.
#[utoipa::path(post, path = "/api/admin/prices/diff", operation_id = "compare_price_list", tag = "administration",
    request_body = SetPricesBody, responses((status = 200, body = Envelope<ComparedPricesBody>)))]
pub async fn compare(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Json(body): Json<SetPricesBody, MAX_LIST>,
) -> Result<NoStore<Envelope<ComparedPricesBody>>, Fails<(InvalidPrices, InvalidText, NotFound)>> {
    let compared = app.price_versions.compare(&body.change()?).await?;
    Ok(NoStore(Envelope::of(ComparedPricesBody {
        number: compared.former,
        changes: compared.changes.into_iter().map(RateChangeBody::from).collect(),
        need_acceptance: compared.surprises,
        left_out: compared.left_out.into_iter().map(LeftOutBody::from).collect(),
    })))
}

/// The versions of the price list, newest first; the last 100 are kept.
#[utoipa::path(get, path = "/api/admin/prices/versions", operation_id = "list_price_versions", tag = "administration",
    responses((status = 200, body = Envelope<Vec<PriceVersionBody>>)))]
pub async fn list(State(app): State<Arc<AppState>>, _: Admin) -> Result<Envelope<Vec<PriceVersionBody>>, Fails> {
    let versions = app.price_versions.list().await?;
    Ok(Envelope::of(versions.into_iter().map(PriceVersionBody::from).collect()))
}

/// A version of the price list with all of its texts.
#[utoipa::path(get, path = "/api/admin/prices/versions/{id}", operation_id = "show_price_version",
    tag = "administration", params(("id" = i64, Path)), responses((status = 200, body = Envelope<PriceListBody>)))]
pub async fn show_version(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Id(number): Id,
) -> Result<ListAnswer, Fails<NotFound>> {
    let shown = app.price_versions.show(Some(number)).await?.ok_or(SetPricesError::NoSuchVersion)?;
    Ok(answer(PriceListBody::new(shown, true)?))
}

impl From<SetPricesError> for ApiError {
    fn from(error: SetPricesError) -> Self {
        let message = error.to_string();
        match error {
            SetPricesError::Invalid(_) => Self::new(ErrorCode::InvalidPrices, message),
            SetPricesError::NeedsAcceptance(_) => Self::new(ErrorCode::PricesNeedAcceptance, message),
            SetPricesError::Changed(changed) => {
                let about = Some(About::Version(changed.version));
                Self { about, ..Self::new(ErrorCode::PricesChanged, message) }
            }
            SetPricesError::NoSuchVersion => Self::new(ErrorCode::NotFound, message),
            SetPricesError::Actor(error) => error.into(),
            SetPricesError::Storage(error) => error.into(),
        }
    }
}
