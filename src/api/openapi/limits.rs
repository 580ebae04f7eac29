//! The limits of [`bounds`] in the document, where clients read them. The macros of utoipa accept only literal numbers.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use utoipa::Number;
use utoipa::openapi::extensions::{Extensions, ExtensionsBuilder};
use utoipa::openapi::schema::Object;
use utoipa::openapi::{Components, RefOr, Schema};

use crate::domain::{bounds, key, password};

const TOKEN_NAME: RangeInclusive<usize> = 1..=bounds::MAX_NAME_CHARS;
const TOKEN_NOTE: RangeInclusive<usize> = 0..=bounds::MAX_NOTE_CHARS;
const LABEL: RangeInclusive<usize> = 0..=bounds::MAX_LABEL_CHARS;
const NAME: RangeInclusive<usize> = 1..=bounds::MAX_LABEL_CHARS;
const EMAIL: RangeInclusive<usize> = 0..=bounds::MAX_EMAIL_CHARS;

/// Characters of the texts of requests, after trimming.
const LENGTHS: [(&str, &str, RangeInclusive<usize>); 22] = [
    ("CreateBody", "name", TOKEN_NAME),
    ("CreateBody", "note", TOKEN_NOTE),
    ("UpdateBody", "name", TOKEN_NAME),
    ("UpdateBody", "note", TOKEN_NOTE),
    ("RegisterBody", "username", bounds::USERNAME_CHARS),
    ("RegisterBody", "password", bounds::PASSWORD_CHARS),
    ("RegisterBody", "email", EMAIL),
    ("NewUserBody", "username", bounds::USERNAME_CHARS),
    ("NewUserBody", "password", bounds::PASSWORD_CHARS),
    ("NewUserBody", "display_name", LABEL),
    ("NewUserBody", "email", EMAIL),
    ("UserPatchBody", "password", bounds::PASSWORD_CHARS),
    ("UserPatchBody", "display_name", LABEL),
    ("UserPatchBody", "email", EMAIL),
    ("SelfBody", "display_name", LABEL),
    ("SelfBody", "email", EMAIL),
    ("GrantBody", "note", LABEL),
    ("BulkUsersBody", "note", LABEL),
    ("NewGatewayBody", "name", NAME),
    ("AccessTokenRequest", "name", NAME),
    ("ApiRequestRequest", "reason", 1..=bounds::MAX_REASON_CHARS),
    ("DecisionBody", "note", 0..=bounds::MAX_REASON_CHARS),
];

const LIMIT: RangeInclusive<i64> = -1..=bounds::MAX_QUOTA;
const RATE: RangeInclusive<i64> = -1..=bounds::MAX_RATE;
const MAX_TOKENS: RangeInclusive<i64> = -1..=bounds::MAX_TOKENS_OVERRIDE;

/// The numbers of requests. `remain_quota` of a token has no range, because an unlimited token accepts any number.
const RANGES: [(&str, &str, RangeInclusive<i64>); 9] = [
    ("PeriodLimitsChange", "day", LIMIT),
    ("PeriodLimitsChange", "week", LIMIT),
    ("PeriodLimitsChange", "month", LIMIT),
    ("RateLimitsChange", "requests_per_minute", RATE),
    ("RateLimitsChange", "tokens_per_minute", RATE),
    ("RateLimitsChange", "concurrency", RATE),
    ("NewUserBody", "quota", 0..=bounds::MAX_QUOTA),
    ("NewUserBody", "max_tokens", MAX_TOKENS),
    ("UserPatchBody", "max_tokens", MAX_TOKENS),
];

/// Adds the limits of each field.
pub(super) fn add_to(components: &mut Components) {
    for (schema, field, range) in LENGTHS {
        let (min, max) = range.into_inner();
        let field = field_of(components, schema, field);
        field.min_length = (min > 0).then_some(min);
        field.max_length = Some(max);
    }
    for (schema, field, range) in RANGES {
        let field = field_of(components, schema, field);
        field.minimum = Some(number(*range.start()));
        field.maximum = Some(number(*range.end()));
    }
}

/// `x-limits` of the document: what limits no single field, or what a schema cannot say.
pub(super) fn extension() -> Extensions {
    ExtensionsBuilder::new().add("x-limits", document_limits()).build()
}

fn document_limits() -> Value {
    json!({
        "quota_per_usd": bounds::QUOTA_PER_USD,
        "page_size": bounds::MAX_PAGE_SIZE,
        "listed_tokens": bounds::MAX_LISTED_TOKENS,
        "audit_csv_lines": bounds::MAX_AUDIT_CSV_LINES,
        "report_days": bounds::MAX_REPORT_DAYS,
        "default_report_days": bounds::DEFAULT_REPORT_DAYS,
        "overview_days": bounds::OVERVIEW_DAYS,
        "lockout_seconds": bounds::LOCKOUT_SECONDS,
        "search_characters": bounds::MIN_SEARCH_CHARS,
        "search_wildcards": bounds::MAX_SEARCH_WILDCARDS,
        "key_characters": key::KEY_CHARS,
        "key_hint_characters": key::HINT_CHARS,
        "imported_key_min_characters": key::FOREIGN_KEY_CHARS.start(),
        "imported_key_max_characters": key::FOREIGN_KEY_CHARS.end(),
        "imported_bcrypt_cost": password::MAX_IMPORTED_BCRYPT_COST,
        "models": bounds::MAX_MODELS,
        "model_characters": bounds::MAX_MODEL_CHARS,
        "addresses": bounds::MAX_IPS,
        "charges": bounds::MAX_CHARGES,
        "request_id_characters": bounds::MAX_REQUEST_ID_CHARS,
        "reservation_seconds": bounds::MAX_RESERVATION_SECONDS,
    })
}

/// The schema of one field. The tables above name only fields that exist; every test that reads the document proves it.
fn field_of<'a>(components: &'a mut Components, schema: &str, field: &str) -> &'a mut Object {
    let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(schema) else {
        unreachable!("no schema {schema}")
    };
    let Some(RefOr::T(Schema::Object(field))) = object.properties.get_mut(field) else {
        unreachable!("no field {field} of {schema}")
    };
    field
}

fn number(value: i64) -> Number {
    Number::Int(isize::try_from(value).unwrap_or(isize::MAX))
}
