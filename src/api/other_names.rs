//! What other services, and other calls of ours, call the members that restrict a key or an account.
//!
//! A caller who sends one of them and is answered 200 believes that the key is restricted. Other unknown members are
//! ignored.

/// Names for one thing.
pub struct OtherNames {
    /// Words in lower case, without `_` and `-`. `*stem*` is each name that contains `stem` and is no name of another
    /// entry.
    names: &'static str,
    /// Which values restrict. `null` and what is empty never do.
    restricts: Values,
    /// What to send instead; empty if nothing does the same.
    pub instead: &'static str,
}

#[derive(Clone, Copy)]
enum Values {
    All,
    /// All but `true` and 1.
    NotTrue,
    /// All but `false` and 0.
    NotFalse,
}

/// Of keys.
pub const OF_TOKENS: &[OtherNames] = &[
    OtherNames { names: EXPIRY, restricts: Values::All, instead: "`expired_time`, a Unix timestamp in seconds" },
    OtherNames { names: ADDRESSES, restricts: Values::All, instead: "`allow_ips`, one address or network a line" },
    OtherNames { names: MODELS, restricts: Values::All, instead: "`model_limits` with `model_limits_enabled`" },
    OtherNames { names: BUDGET, restricts: Values::All, instead: "`remain_quota`, in quota units" },
    OtherNames { names: PERIODS, restricts: Values::All, instead: "`period_limits` with `day`, `week` and `month`" },
    OtherNames {
        names: RATES,
        restricts: Values::All,
        instead: "`rate_limits` with `requests_per_minute`, `tokens_per_minute` and `concurrency`",
    },
    OtherNames { names: ENABLED, restricts: Values::NotTrue, instead: STATUS_OF_TOKENS },
    OtherNames { names: DISABLED, restricts: Values::NotFalse, instead: STATUS_OF_TOKENS },
    OtherNames { names: SCOPES, restricts: Values::All, instead: "" },
];

/// Of accounts.
pub const OF_USERS: &[OtherNames] = &[
    OtherNames { names: BUDGET, restricts: Values::All, instead: "`quota`, at `POST /api/admin/users/{id}/quota`" },
    OtherNames { names: PERIODS, restricts: Values::All, instead: "`period_limits` with `day`, `week` and `month`" },
    OtherNames { names: MAX_TOKENS, restricts: Values::All, instead: "`max_tokens`" },
    OtherNames { names: ENABLED, restricts: Values::NotTrue, instead: STATUS_OF_USERS },
    OtherNames { names: DISABLED, restricts: Values::NotFalse, instead: STATUS_OF_USERS },
    OtherNames { names: EXPIRY, restricts: Values::All, instead: "" },
    OtherNames { names: ADDRESSES, restricts: Values::All, instead: "" },
    OtherNames { names: MODELS, restricts: Values::All, instead: "" },
    OtherNames { names: RATES, restricts: Values::All, instead: "" },
    OtherNames { names: SCOPES, restricts: Values::All, instead: "" },
];

/// Of rotations of keys.
pub const OF_ROTATIONS: &[OtherNames] =
    &[OtherNames { names: GRACE, restricts: Values::All, instead: "`grace_seconds`" }];

/// Of gateways.
pub const OF_GATEWAYS: &[OtherNames] = &[
    OtherNames { names: EXPIRY, restricts: Values::All, instead: "" },
    OtherNames { names: ADDRESSES, restricts: Values::All, instead: "" },
    OtherNames { names: MODELS, restricts: Values::All, instead: "" },
    OtherNames { names: SCOPES, restricts: Values::All, instead: "" },
];

/// Of access tokens.
pub const OF_ACCESS_TOKENS: &[OtherNames] = &[
    OtherNames { names: EXPIRY, restricts: Values::All, instead: "`expires_at`, a Unix timestamp in seconds" },
    OtherNames { names: ADDRESSES, restricts: Values::All, instead: "" },
    OtherNames { names: SCOPES, restricts: Values::All, instead: "" },
];

const STATUS_OF_TOKENS: &str = "`status` 1 or 2 to `PUT /api/token/?status_only=1`";
const STATUS_OF_USERS: &str = "`status` 1 or 2 to `PATCH /api/admin/users/{id}`";

const EXPIRY: &str = "\
    *expir* deadline duration endat enddate endsat endtime exp keyduration lifespan lifetime maxage notafter \
    timetolive ttl ttldays ttlhours ttlminutes ttlms ttlseconds validdays validfor validity validto validuntil";
const ADDRESSES: &str = "\
    *cidr* addresses allowedaddresses allowedip allowedipaddresses allowedips allowednetworks allowips allowlist \
    blockedips denyips ip ipaddresses ipallowlist ipblacklist ipdenylist iplist ipranges iprestriction \
    iprestrictions ips ipwhitelist networks sourceips subnets whitelist whitelistedips";
const MODELS: &str = "\
    allowedmodel allowedmodels allowmodels availablemodels blockedmodels model modelaccess modelallowlist modelids \
    modellist modelmaxbudget modelnames modelrestrictions modelsallowed modelwhitelist permittedmodels";
const BUDGET: &str = "\
    *budget* allowance amount balance costcap credit credits creditsremaining initialquota maxamount maxcost \
    maxcredits maxquota maxspend maxspending maxusage maxusd quota quotausd remain remaining remainingcredits \
    remainingquota remainquota spendcap spendingcap tokenquota totalcredits totalquota usd wallet";
const PERIODS: &str = "\
    budgetduration budgetperiod budgetreset budgetresetat budgets daily dailybudget dailycap dailyquota \
    hourlybudget monthly monthlybudget monthlycap monthlyquota quotaperiod refill refillamount refillinterval \
    resetinterval resetperiod weekly weeklybudget weeklycap weeklyquota";
const RATES: &str = "\
    *concurren* *perday* *perhour* *perminute* *persecond* maxparallelrequests maxrequests maxrpm maxrps maxtokens \
    maxtpm parallelrequests qps rate rpd rpm rps throttle throttling tpd tpm";
const GRACE: &str = "*expir* *grace* immediate immediately revokeat revokeold ttl";
const MAX_TOKENS: &str = "keyquota maxapikeys maxkeys maxtoken tokencount";
const ENABLED: &str = "active enable enabled isactive isenabled";
const DISABLED: &str = "\
    archived banned blocked deactivated disable disabled inactive isblocked isdisabled isinactive isrevoked locked \
    paused revoked suspended";
const SCOPES: &str = "\
    *allowed* *allowlist* *blacklist* *blocklist* *denied* *denylist* *restrict* *whitelist* channellist customkey \
    endpoints groupid guardrails keytype objectpermission organizationid origins permission permissions policies \
    projectid readonly roles scope scopes teamid";

impl OtherNames {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }

    /// Those of a table that have this name, if `value`, a text of JSON, restricts.
    pub fn find<'a>(table: &'a [Self], name: &str, value: &str) -> Option<&'a Self> {
        let name = folded(name);
        let exactly = table.iter().find(|other| other.words().any(|word| word == name));
        let has = |stem: &str| {
            stem.strip_prefix('*').and_then(|stem| stem.strip_suffix('*')).is_some_and(|stem| name.contains(stem))
        };
        let found = exactly.or_else(|| table.iter().find(|other| other.words().any(has)))?;
        let restricts = match found.restricts {
            Values::All => true,
            Values::NotTrue => !["true", "1"].contains(&value),
            Values::NotFalse => !["false", "0"].contains(&value),
        };
        (restricts && !is_empty(value)).then_some(found)
    }
}

/// Returns true if a text of JSON is `null`, or an empty text, list or object.
pub fn is_empty(value: &str) -> bool {
    let inner = value.trim_matches(|c: char| c.is_ascii_whitespace());
    let pairs = [('"', '"'), ('[', ']'), ('{', '}')];
    let between = pairs.into_iter().find_map(|(open, close)| inner.strip_prefix(open)?.strip_suffix(close));
    inner == "null" || between.is_some_and(|between| between.trim_ascii().is_empty())
}

/// A name in lower case, without `_` and `-`: `expires_at`, `expiresAt` and `Expires-At` are one.
pub fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_and_in_one_list_of_a_table() {
        for table in [OF_TOKENS, OF_USERS, OF_ACCESS_TOKENS, OF_ROTATIONS, OF_GATEWAYS] {
            let mut all: Vec<_> = table.iter().flat_map(OtherNames::words).collect();
            assert!(all.iter().all(|name| folded(name) == *name));
            all.sort_unstable();
            let count = all.len();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }

    #[test]
    fn a_name_is_found_by_its_stem_if_no_entry_has_it() {
        let instead =
            |name| OtherNames::find(OF_TOKENS, name, "1").map(|found| &found.instead[..found.instead.len().min(14)]);
        assert_eq!(instead("key_expiration_seconds"), Some("`expired_time`"));
        assert_eq!(instead("budgetPeriod"), Some("`period_limits"));
        assert_eq!(instead("usd_budget"), Some("`remain_quota`"));
        assert_eq!(instead("image_requests_per_minute"), Some("`rate_limits` "));
        assert_eq!(instead("ip-blacklist"), Some("`allow_ips`, o"));
        assert_eq!(instead("tools_allowed"), Some(""));
        assert_eq!(instead("colour"), None);
    }

    #[test]
    fn only_a_value_that_restricts_is_found() {
        let is_found = |name, value| OtherNames::find(OF_TOKENS, name, value).is_some();
        for value in ["null", "\"\"", "\" \"", "[]", "[ ]", "{}"] {
            assert!(!is_found("allowed_ips", value) && !is_found("enabled", value), "{value}");
        }
        for value in ["0", "\"x\"", "[\"\"]", "{\"a\":1}", "false", "true", "\"\"\"\""] {
            assert!(is_found("expiresAt", value), "{value}");
        }
        assert!(is_found("enabled", "false") && !is_found("enabled", "true") && is_found("enabled", "\"true\""));
        assert!(!is_found("enabled", "1") && is_found("enabled", "0") && !is_found("disabled", "0"));
        assert!(is_found("Disabled", "true") && !is_found("Disabled", "false") && is_found("disabled", "1"));
    }
}
