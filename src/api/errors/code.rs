//! Every error code of the API: its statuses, its meaning and what the caller should do about it.
//!
//! The codes are part of the API and never change. The OpenAPI document lists the codes that each operation can
//! answer, and `docs/errors.md` is written from this table.

use http::StatusCode;

/// Declares [`ErrorCode`]: the doc comment of a code is its meaning, the text behind its statuses is its remedy.
macro_rules! error_codes {
    ($($(#[doc = $meaning:literal])+ $name:ident = $code:literal, [$($status:ident),+], $remedy:literal;)*) => {
        /// The stable code of a failure, sent as `error`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode {
            $(
                $(#[doc = $meaning])+
                $name,
            )*
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The statuses it comes with; the first is the usual one.
            pub const fn statuses(self) -> &'static [StatusCode] {
                match self {
                    $(Self::$name => &[$(StatusCode::$status,)+],)*
                }
            }

            /// What happened.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($meaning,)+).trim_start(),)*
                }
            }

            /// What the caller should do.
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Self::$name => $remedy,)*
                }
            }
        }

        /// Each code as a type, for the lists of [`Fails`](crate::api::errors::fails::Fails).
        pub mod codes {
            use crate::api::errors::code::ErrorCode;
            use crate::api::errors::fails::{CodeList, CodesByStatus};

            $(
                #[doc = concat!("The code `", $code, "` with its usual status.")]
                #[derive(Debug)]
                pub enum $name {}

                impl CodeList for $name {
                    fn add_to(codes: &mut CodesByStatus) {
                        codes.entry(ErrorCode::$name.status()).or_default().insert(ErrorCode::$name);
                    }
                }
            )*
        }
    };
}

error_codes! {
    // 400: the request is wrong. The message names the field and says what it must be.

    /// The HTTP request cannot be processed as it is.
    BadRequest = "bad_request", [BAD_REQUEST],
        "Correct the request.";
    /// The body is not a JSON object, is not UTF-8, or names a field twice.
    InvalidJson = "invalid_json", [BAD_REQUEST],
        "Send one JSON object, encoded as UTF-8.";
    /// A field of the body has the wrong JSON type, is unknown and named like a limit, or cannot be changed here.
    InvalidField = "invalid_field", [BAD_REQUEST],
        "Send the type or the name that the message names.";
    /// The body ended before it was complete.
    InvalidBody = "invalid_body", [BAD_REQUEST],
        "Send the request again.";
    /// A required field is missing.
    MissingField = "missing_field", [BAD_REQUEST],
        "Send the field that the message names.";
    /// The query string cannot be read, or a parameter in it is invalid.
    InvalidQuery = "invalid_query", [BAD_REQUEST],
        "Send each parameter once, in the form that the message names.";
    /// The id in the path is not a whole number.
    InvalidId = "invalid_id", [BAD_REQUEST],
        "Send a whole number.";
    /// `p`, `size`, `page_size` or `ps` is not a whole number of 0 or more.
    InvalidPage = "invalid_page", [BAD_REQUEST],
        "Send whole numbers of 0 or more.";
    /// The search text is too short, has too many wildcards, or contains control characters; or too many keys match it.
    InvalidSearch = "invalid_search", [BAD_REQUEST],
        "Send at least 2 characters and at most 2 `%`, never `%%`; of all users' keys, the first or the last 4 characters.";
    /// A parameter that selects, orders or formats, such as `status`, `group`, `sort` or `format`, has no such value.
    InvalidFilter = "invalid_filter", [BAD_REQUEST],
        "Send one of the values that the message names.";
    /// A date is not written as YYYY-MM-DD, does not exist, or the range ends before it starts.
    InvalidRange = "invalid_range", [BAD_REQUEST],
        "Send dates as YYYY-MM-DD, the earlier one first.";
    /// The range of days, or what it contains, is larger than one answer may be; or more tokens match than one call is
    /// for.
    RangeTooLarge = "range_too_large", [BAD_REQUEST],
        "Ask for fewer days, for more general groups, or filter for fewer tokens.";
    /// The name of the token is empty, too long, or contains control characters.
    InvalidName = "invalid_name", [BAD_REQUEST],
        "Send 1 to 50 characters.";
    /// The note is too long or contains control characters.
    InvalidNote = "invalid_note", [BAD_REQUEST],
        "Send at most 500 characters.";
    /// The expiry is not a timestamp in seconds, or is not allowed here.
    InvalidExpiry = "invalid_expiry", [BAD_REQUEST],
        "Send a Unix timestamp in seconds, or -1 for never.";
    /// The price list cannot be read, or has a model with no price or with one that is not complete.
    InvalidPrices = "invalid_prices", [BAD_REQUEST],
        "Correct what the message names.";
    /// An amount of quota is outside its range.
    InvalidQuota = "invalid_quota", [BAD_REQUEST],
        "Send a whole number of quota units within the range that the message names.";
    /// `usd` is not a decimal number, or is outside its range.
    InvalidUsd = "invalid_usd", [BAD_REQUEST],
        "Send a number of dollars, or its decimal text, within the range that the message names.";
    /// The amount was sent twice, such as in `quota` and `usd`.
    AmbiguousAmount = "ambiguous_amount", [BAD_REQUEST],
        "Send one of them.";
    /// `period_limits` has an unknown member, or a limit is outside its range.
    InvalidPeriodLimit = "invalid_period_limit", [BAD_REQUEST],
        "Send quota units for `day`, `week` and `month`, or -1 for no limit.";
    /// `rate_limits` has an unknown member, or a limit is outside its range.
    InvalidRateLimit = "invalid_rate_limit", [BAD_REQUEST],
        "Send numbers for `requests_per_minute`, `tokens_per_minute` and `concurrency`, or -1 for no limit.";
    /// `model_limits` has too many names, too long names, or control characters.
    InvalidModels = "invalid_models", [BAD_REQUEST],
        "Send at most 1,000 names of at most 128 characters, separated by commas.";
    /// `allow_ips` contains an entry that is neither an IP address nor a network, or has too many entries.
    InvalidIps = "invalid_ips", [BAD_REQUEST],
        "Send at most 100 addresses or CIDR networks, one a line.";
    /// The group does not exist, or the owner of the token may not use it.
    InvalidGroup = "invalid_group", [BAD_REQUEST],
        "Send one of the groups that the message names.";
    /// `If-Match` is not a list of entity tags.
    InvalidIfMatch = "invalid_if_match", [BAD_REQUEST],
        "Send the `ETag` of an answer as it came, or leave the header out.";
    /// `Idempotency-Key` is empty, too long, sent twice, or has other characters.
    InvalidIdempotencyKey = "invalid_idempotency_key", [BAD_REQUEST],
        "Send 1 to 255 printable ASCII characters, once.";
    /// `grace_seconds` is outside its range, or `grace_from` has no such value.
    InvalidGrace = "invalid_grace", [BAD_REQUEST],
        "Send 0 to 2,592,000 seconds, and `first_use` or `now`.";
    /// `status` is neither 1 nor 2.
    InvalidStatus = "invalid_status", [BAD_REQUEST],
        "Send 1 to enable or 2 to disable.";
    /// `ids` has no entry or too many.
    InvalidIds = "invalid_ids", [BAD_REQUEST],
        "Send as many ids as the message allows; split larger batches.";
    /// The users of a call are chosen in several ways, are none or too many, or one is named twice; or a line of `csv`
    /// cannot be read.
    InvalidUsers = "invalid_users", [BAD_REQUEST],
        "Name 1 to 1,000 users, each once, by `ids`, `usernames` or `csv`; `faults` has the wrong ones.";
    /// `tokens` has no entry or too many.
    InvalidTokens = "invalid_tokens", [BAD_REQUEST],
        "Send 1 to 100 tokens; split larger batches.";
    /// The username is too short, too long, or has characters that are not allowed.
    InvalidUsername = "invalid_username", [BAD_REQUEST],
        "Send 1 to 50 letters and digits of one script, without white space.";
    /// The password is too short or too long.
    InvalidPassword = "invalid_password", [BAD_REQUEST],
        "Send 8 to 128 characters.";
    /// The e-mail address cannot be one.
    InvalidEmail = "invalid_email", [BAD_REQUEST],
        "Send an e-mail address, or an empty text.";
    /// A free text is too long or contains control characters.
    InvalidText = "invalid_text", [BAD_REQUEST],
        "Shorten the text to the length that the message names.";
    /// `max_tokens` is outside its range.
    InvalidMaxTokens = "invalid_max_tokens", [BAD_REQUEST],
        "Send a number within the range that the message names, or -1 for the general limit.";
    /// `role` is not a role.
    InvalidRole = "invalid_role", [BAD_REQUEST],
        "Send 1 (user), 10 (administrator) or 100 (root).";
    /// `state` is not a state of an enablement request.
    InvalidState = "invalid_state", [BAD_REQUEST],
        "Send `pending`, `approved` or `refused`, or leave it out.";
    /// `decision` is not a decision.
    InvalidDecision = "invalid_decision", [BAD_REQUEST],
        "Send `approve` or `refuse`.";
    /// `charges` has no entry or too many.
    InvalidCharges = "invalid_charges", [BAD_REQUEST],
        "Send 1 to 1,000 charges; split larger batches.";
    /// `ttl_seconds` is outside its range.
    InvalidTtl = "invalid_ttl", [BAD_REQUEST],
        "Send 1 to 86,400 seconds.";
    /// `on_expiry` is not a known value.
    InvalidOnExpiry = "invalid_on_expiry", [BAD_REQUEST],
        "Send `release` or `charge`, or leave it out.";
    /// `request_id` is empty, too long, or contains control characters.
    InvalidRequestId = "invalid_request_id", [BAD_REQUEST],
        "Send 1 to 128 visible characters.";
    /// `model` is too long or contains control characters.
    InvalidModel = "invalid_model", [BAD_REQUEST],
        "Send at most 128 characters.";
    /// `ip` is not an IP address.
    InvalidIp = "invalid_ip", [BAD_REQUEST],
        "Send an IPv4 or IPv6 address, with or without a port.";
    /// A unit is unknown, its count is outside its range or more than what it is a part of, or costs more than can be
    /// granted.
    InvalidCount = "invalid_count", [BAD_REQUEST],
        "Send units and numbers as the message says.";
    /// What a provider's answer says that it used cannot be read, or says something else than `units`.
    InvalidUsage = "invalid_usage", [BAD_REQUEST],
        "Send `provider` and `flavor` with it, or `units`, `quota` or `usd`. Add an extractor if the provider is new.";
    /// `context` or `provider` is too long.
    InvalidContext = "invalid_context", [BAD_REQUEST],
        "Send short texts, as the message says.";

    // 401: no credential, or one that is not valid.

    /// The call needs a signed-in user and no credential was sent.
    NotSignedIn = "not_signed_in", [UNAUTHORIZED],
        "Sign in, or send an access token in `Authorization`.";
    /// The access token or session is unknown, revoked or expired.
    InvalidCredential = "invalid_credential", [UNAUTHORIZED],
        "Sign in again, or use another access token.";
    /// `New-Api-User` or one of its aliases names another user than the credential.
    UserMismatch = "user_mismatch", [UNAUTHORIZED],
        "Leave the header out, or correct it.";
    /// The username or the password is wrong.
    WrongCredentials = "wrong_credentials", [UNAUTHORIZED],
        "Check both; repeated failures are rate-limited.";
    /// The API key is missing or unknown, or its token was deleted.
    InvalidKey = "invalid_key", [UNAUTHORIZED],
        "Use another API key; retrying does not help.";
    /// The call needs a gateway credential, and none that is valid was sent.
    InvalidGateway = "invalid_gateway", [UNAUTHORIZED],
        "Send the gateway's credential; an administrator creates one.";

    // 402: not enough quota.

    /// The quota of the token is used up. Status 402 for a charge, 409 for enabling the token.
    TokenExhausted = "token_exhausted", [PAYMENT_REQUIRED, CONFLICT],
        "Raise `remain_quota` of the token, or make it unlimited.";
    /// The token has less quota left than this amount.
    TokenQuotaInsufficient = "token_quota_insufficient", [PAYMENT_REQUIRED],
        "Ask for less, or raise `remain_quota` of the token.";
    /// The account of the token has less quota left than this amount.
    UserQuotaInsufficient = "user_quota_insufficient", [PAYMENT_REQUIRED],
        "Ask for less, or have an administrator add quota to the account.";

    // 403: the credential is valid and does not allow this.

    /// The token API is not enabled for the account.
    TokenApiNotEnabled = "token_api_not_enabled", [FORBIDDEN],
        "Request it with POST /api/user/token_api_request.";
    /// The call needs an administrator.
    NotAnAdministrator = "not_an_administrator", [FORBIDDEN],
        "Ask an administrator.";
    /// A page of another site sent the request, or it does not say which site sent it.
    CrossSiteRequest = "cross_site_request", [FORBIDDEN],
        "Open this site itself; programs use an access token.";
    /// The session cookie is for HTTPS alone, and the page was opened over plain HTTP: the browser would not keep it.
    HttpsRequired = "https_required", [BAD_REQUEST],
        "Open the page over https, or have the operator set `http.secure_cookies`.";
    /// The account is disabled.
    UserDisabled = "user_disabled", [FORBIDDEN],
        "Ask an administrator to enable the account.";
    /// Users cannot register themselves on this server.
    RegistrationClosed = "registration_closed", [FORBIDDEN],
        "Ask an administrator for an account.";
    /// The old password is wrong.
    WrongPassword = "wrong_password", [FORBIDDEN],
        "Send the old password as `original_password`.";
    /// The request names the account of another user.
    ForeignAccount = "foreign_account", [FORBIDDEN],
        "Send your own username, or leave `account` out.";
    /// The account, or the role to give, is not below the caller's own.
    RoleTooLow = "role_too_low", [FORBIDDEN],
        "Ask root.";
    /// Root disabled the account, so an administrator cannot enable it.
    AccountDisabledByRoot = "account_disabled_by_root", [FORBIDDEN],
        "Ask root.";
    /// An administrator disabled the token, so its owner cannot enable it.
    SwitchedOffByAdministrator = "switched_off_by_administrator", [FORBIDDEN],
        "Ask an administrator to enable the token.";
    /// Root disabled the token, so nobody else can enable it.
    SwitchedOffByRoot = "switched_off_by_root", [FORBIDDEN],
        "Ask root to enable the token.";
    /// The token is disabled.
    TokenDisabled = "token_disabled", [FORBIDDEN],
        "Enable the token, or use another API key.";
    /// The token has expired. Status 403 for a charge, 409 for enabling the token and for replacing its key.
    TokenExpired = "token_expired", [FORBIDDEN, CONFLICT],
        "Set `expired_time` of the token to a later time, or use another API key.";
    /// The owner of the token may not use its group any more.
    GroupNotAllowed = "group_not_allowed", [FORBIDDEN],
        "Give the token another group.";
    /// The token may not use this model.
    ModelNotAllowed = "model_not_allowed", [FORBIDDEN],
        "Use another model, or add this one to `model_limits` of the token.";
    /// The token may not be used from this address.
    IpNotAllowed = "ip_not_allowed", [FORBIDDEN],
        "Call from an allowed address, or add this one to `allow_ips` of the token.";

    /// The gateway sent no amount, and the model, a unit of it, its tier or its provider has no price.
    ModelNotPriced = "model_not_priced", [FORBIDDEN],
        "Do what the message says: add a price with `keymeter prices set`, or send `provider`, `quota` or `usd`.";

    // 404, 405: nothing here.

    /// The path does not exist, or the object does not exist or belongs to another user.
    NotFound = "not_found", [NOT_FOUND],
        "Check the path and the id.";
    /// The reservation does not exist, belongs to another gateway, or ended long ago.
    ReservationNotFound = "reservation_not_found", [NOT_FOUND],
        "Check `reservation_id`; retrying does not help.";
    /// The path exists and does not accept this method.
    MethodNotAllowed = "method_not_allowed", [METHOD_NOT_ALLOWED],
        "Use one of the methods in the header `Allow`.";

    // 409: the current state does not allow this.

    /// The user has as many tokens as allowed.
    TokenLimitReached = "token_limit_reached", [CONFLICT],
        "Delete a token, or ask an administrator for a higher limit.";
    /// The token, or the user's wallet, has less quota left than is to be taken away.
    InsufficientQuota = "insufficient_quota", [CONFLICT],
        "Take less; the message says what is left.";
    /// Three replaced keys of the token still work.
    TooManyOldKeys = "too_many_old_keys", [CONFLICT],
        "End an old key, wait until one ends, or rotate with `grace_seconds` 0 and `grace_from` `now`.";
    /// A request with this `Idempotency-Key` was carried out before, and the key that it made was replaced since.
    KeyRotated = "key_rotated", [CONFLICT],
        "Read the present key of the token.";
    /// Another account has this username.
    UsernameTaken = "username_taken", [CONFLICT],
        "Choose another username.";
    /// The username looks like that of another account.
    UsernameConfusable = "username_confusable", [CONFLICT],
        "Choose another username.";
    /// The user has as many access tokens as allowed.
    AccessTokenLimitReached = "access_token_limit_reached", [CONFLICT],
        "Revoke an access token that is no longer used.";
    /// The token API is already enabled for the account.
    TokenApiEnabled = "token_api_enabled", [CONFLICT],
        "Nothing to do: use the token API.";
    /// A request for enablement is already pending.
    TokenApiRequested = "token_api_requested", [CONFLICT],
        "Wait for an administrator to decide.";
    /// Administrators cannot delete their own account, or change its role or status.
    OwnAccount = "own_account", [CONFLICT],
        "Ask another administrator.";
    /// An administrator changed the user since the call whose top-up is to be undone, or that call added nothing to it.
    UserChanged = "user_changed", [CONFLICT],
        "Look at the users in `faults`, and leave them out of the undo.";
    /// The gateway has as many credentials as allowed.
    CredentialLimitReached = "credential_limit_reached", [CONFLICT],
        "Revoke a credential that is no longer used.";
    /// The request for enablement is already decided.
    AlreadyDecided = "already_decided", [CONFLICT],
        "Read the request again.";
    /// The reservation has already ended in another way.
    ReservationEnded = "reservation_ended", [CONFLICT],
        "Stop: it was settled, released or expired before; retrying does not help.";
    /// The `request_id` was used for a different charge or reservation.
    RequestIdReused = "request_id_reused", [CONFLICT],
        "Give each charge and each reservation its own `request_id`, and repeat it only to retry the same request.";
    /// The price list moves rates beyond half or double, or takes the price from a model that was charged lately.
    PricesNeedAcceptance = "prices_need_acceptance", [CONFLICT],
        "Look at what the message names, and send the list with `accept` if it is right.";

    // 412: a condition of the request does not hold.

    /// The token was changed since the version in `If-Match`. The answer has the present `ETag`.
    TokenChanged = "token_changed", [PRECONDITION_FAILED],
        "Read the token again, and decide whether to send the change with its new `ETag`.";
    /// Another price list was set since the version in `If-Match`, or at the same time. The answer has the present
    /// `ETag`.
    PricesChanged = "prices_changed", [PRECONDITION_FAILED],
        "Read the price list again, and decide whether to set yours with its new `ETag`.";

    // 422: the request contradicts an earlier one.

    /// The `Idempotency-Key` was used for another call, or with another body.
    IdempotencyKeyReused = "idempotency_key_reused", [UNPROCESSABLE_ENTITY],
        "Give each request its own key, and repeat it only to retry the same request.";

    // 413, 415, 429: too much, or unreadable.

    /// The body is compressed, or encoded in another way.
    UnsupportedEncoding = "unsupported_encoding", [UNSUPPORTED_MEDIA_TYPE],
        "Send the body without `Content-Encoding`.";
    /// The body is larger than 1 MiB; of a sign-in or a registration, larger than 8 KiB.
    BodyTooLarge = "body_too_large", [PAYLOAD_TOO_LARGE],
        "Send less at once.";
    /// Too many requests of this kind from this user, key or address; or a rate of the token is used up.
    RateLimited = "rate_limited", [TOO_MANY_REQUESTS],
        "Wait for the seconds in `Retry-After`. Without it the rate is 0, and no retry can succeed.";
    /// The token has as many open reservations as it may have.
    TooManyConcurrent = "too_many_concurrent", [TOO_MANY_REQUESTS],
        "Settle or release a reservation first. Without `Retry-After` the limit is 0, and no retry can succeed.";
    /// The amount does not fit into the token's limit of this day, week or month.
    TokenPeriodExceeded = "token_period_exceeded", [TOO_MANY_REQUESTS],
        "Ask for less, or wait until `resets_at`, or raise the token's `period_limits`. Without `Retry-After` the amount is \
         larger than the limit: waiting does not help.";
    /// The amount does not fit into the account's limit of this day, week or month.
    UserPeriodExceeded = "user_period_exceeded", [TOO_MANY_REQUESTS],
        "Ask for less, or wait until `resets_at`, or have an administrator raise the account's `period_limits`. Without \
         `Retry-After` the amount is larger than the limit: waiting does not help.";

    // 500, 503: the server cannot answer now.

    /// A defect; the log has the details under the `X-Request-Id` of the answer.
    Internal = "internal", [INTERNAL_SERVER_ERROR],
        "Quote `X-Request-Id` to the operator.";
    /// The database cannot be reached or did not answer in time.
    DatabaseUnavailable = "database_unavailable", [SERVICE_UNAVAILABLE],
        "Retry after `Retry-After`; repeat a charge with the same `request_id`.";
    /// The change was made, but the wait until it is on disk and on a synchronous standby was cut short: a failover may
    /// lose it.
    NotDurable = "not_durable", [SERVICE_UNAVAILABLE],
        "Read the current state after `Retry-After`; repeat a charge with the same `request_id`.";
    /// The database accepts no writes.
    DatabaseReadOnly = "database_read_only", [SERVICE_UNAVAILABLE],
        "Use another server, or retry shortly.";
    /// The database does not have the migrations of this version yet.
    NotMigrated = "not_migrated", [SERVICE_UNAVAILABLE],
        "Retry after `Retry-After`; the operator runs `keymeter migrate`.";
    /// The server is stopping.
    Stopping = "stopping", [SERVICE_UNAVAILABLE],
        "Use another server.";
    /// A newer program has changed the database so that this one cannot use it any more. The server ends.
    ProgramTooOld = "program_too_old", [SERVICE_UNAVAILABLE],
        "Use another server; the operator starts the newer version.";
    /// The server has as many connections as allowed.
    TooManyConnections = "too_many_connections", [SERVICE_UNAVAILABLE],
        "Retry after `Retry-After`, and keep connections open between requests.";
    /// Too many requests wait for the same reader or writer.
    ServerBusy = "server_busy", [SERVICE_UNAVAILABLE],
        "Retry after `Retry-After`.";
    /// The queue of the ledger is full.
    LedgerBusy = "ledger_busy", [SERVICE_UNAVAILABLE],
        "Retry after `Retry-After`, with the same `request_id`.";
    /// Too many reports wait to be made; with status 429, too many of the caller's own.
    ReportsBusy = "reports_busy", [SERVICE_UNAVAILABLE, TOO_MANY_REQUESTS],
        "Ask again when your other reports are answered, after `Retry-After`.";
    /// Too many passwords are being checked.
    SignInBusy = "sign_in_busy", [SERVICE_UNAVAILABLE],
        "Retry after `Retry-After`.";
    /// The request took longer than the server allows. It may have taken effect.
    Timeout = "timeout", [SERVICE_UNAVAILABLE],
        "Read the current state, then retry; repeat a charge with the same `request_id`.";
}

impl ErrorCode {
    /// The usual status.
    #[expect(clippy::indexing_slicing, reason = "the macro accepts no empty list")]
    pub const fn status(self) -> StatusCode {
        self.statuses()[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_snake_case() {
        let mut codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(codes.iter().all(|code| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
    }

    #[test]
    fn the_schema_lists_the_codes() {
        let schema = serde_json::to_value(<ErrorCode as utoipa::PartialSchema>::schema()).unwrap();
        let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(schema["enum"], serde_json::json!(codes));
        assert_eq!(serde_json::to_value(ErrorCode::ALL).unwrap(), serde_json::json!(codes));
    }

    #[test]
    fn meanings_and_remedies_are_sentences() {
        for code in ErrorCode::ALL {
            for text in [code.meaning(), code.remedy()] {
                assert!(text.ends_with('.') && !text.contains('|'), "{code:?}: {text}");
            }
        }
    }
}
