//! How a row of the other service becomes one of ours: pure functions of the row and the time.

use super::findings::{Detail, Finding, FoundInRow};
use super::rows::{ForeignToken, ForeignUser};
use keymeter::domain::account::Budget;
use keymeter::domain::bounds;
use keymeter::domain::group::Group;
use keymeter::domain::ip_allowlist::{self, IpAllowlist};
use keymeter::domain::key::ApiKey;
use keymeter::domain::model_limits::ModelLimits;
use keymeter::domain::money::Quota;
use keymeter::domain::password::{MAX_IMPORTED_BCRYPT_COST, bcrypt_cost};
use keymeter::domain::secrets::AccessTokenSecret;
use keymeter::domain::text::{self, hides_something};
use keymeter::domain::time::{Lifetime, UnixTime};
use keymeter::domain::token::TokenName;
use keymeter::domain::user::{Role, UserStatus};

/// The status of accounts that one-api deletes.
const DELETED: i64 = 3;

/// An account as it is written here, but for its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedUser {
    pub display_name: String,
    pub email: String,
    /// A bcrypt hash, or empty.
    pub password_hash: String,
    pub role: Role,
    pub status: UserStatus,
    /// Set if it is disabled.
    pub disabled_by: Option<Role>,
    /// Empty: the group for new accounts.
    pub group: String,
    pub quota: Quota,
    pub used_quota: Quota,
    pub request_count: i64,
    pub created_time: UnixTime,
    /// Plain text; only its digest is stored.
    pub access_token: Option<String>,
}

/// A token as it is written here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the columns here")]
pub struct MappedToken {
    pub key: ApiKey,
    /// The key has no checksum of ours.
    pub key_foreign: bool,
    pub name: TokenName,
    pub is_disabled: bool,
    pub created_time: UnixTime,
    pub accessed_time: UnixTime,
    pub lifetime: Lifetime,
    pub budget: Budget,
    pub used_quota: Quota,
    pub model_limits_enabled: bool,
    pub model_limits: ModelLimits,
    pub allow_ips: IpAllowlist,
    pub group: Group,
    pub cross_group_retry: bool,
}

/// Returns true if the account is not moved.
pub const fn is_deleted(user: &ForeignUser) -> bool {
    user.is_deleted || user.status == DELETED
}

/// The account as it becomes ours.
pub fn map_user(user: &ForeignUser, now: UnixTime) -> (MappedUser, Vec<FoundInRow>) {
    let mut found = Vec::new();
    let role = Role::from_code(user.role).unwrap_or_else(|| {
        found.push(FoundInRow::new(Finding::RoleUnknown, Detail::Role { role: user.role }));
        Role::User
    });
    let status = UserStatus::from_code(user.status).unwrap_or_else(|| {
        found.push(FoundInRow::new(Finding::UserStatusUnknown, Detail::Status { status: user.status }));
        UserStatus::Disabled
    });
    let disabled_by =
        (status == UserStatus::Disabled).then_some(if role.is_admin() { Role::Root } else { Role::Admin });
    let password_hash = match bcrypt_cost(&user.password) {
        Some(cost) if cost <= MAX_IMPORTED_BCRYPT_COST => user.password.clone(),
        Some(cost) => {
            found.push(FoundInRow::new(Finding::PasswordTooCostly, Detail::text(format!("cost {cost}"))));
            String::new()
        }
        None => {
            found.push(Finding::NoPassword.into());
            String::new()
        }
    };
    if user.has_second_factor {
        found.push(FoundInRow::new(Finding::SecondFactor, Detail::text(&user.username)));
    }
    let email = text::email(&user.email).unwrap_or_else(|_| {
        found.push(FoundInRow::new(
            Finding::EmailDropped,
            Detail::text(user.email.chars().take(100).collect::<String>()),
        ));
        String::new()
    });
    let token = user.access_token.trim();
    let is_token = AccessTokenSecret::parse(token).is_some();
    if !token.is_empty() && !is_token {
        found.push(Finding::AccessTokenSkipped.into());
    }
    if user.has_linked_identity {
        found.push(Finding::LinkedIdentity.into());
    }
    if user.affiliate_quota != 0 {
        found.push(FoundInRow::quota(Finding::AffiliateQuota, user.affiliate_quota));
    }
    let mapped = MappedUser {
        display_name: visible(&user.display_name, bounds::MAX_LABEL_CHARS),
        email,
        password_hash,
        role,
        status,
        disabled_by,
        group: user.group.trim().to_owned(),
        quota: balance(user.quota, Finding::WalletDebt, Finding::WalletCapped, &mut found),
        used_quota: used(user.used_quota, Finding::UserUsedCapped, &mut found),
        request_count: user.request_count.max(0),
        created_time: time_or(user.created_time, now, now),
        access_token: is_token.then(|| token.to_owned()),
    };
    (mapped, found)
}

/// The token as it becomes ours; `None` if its key cannot be a key. `revive` enables tokens that the other service
/// refuses without a reason.
pub fn map_token(token: &ForeignToken, now: UnixTime, revive: bool) -> (Option<MappedToken>, Vec<FoundInRow>) {
    let mut found = Vec::new();
    let Ok(key) = ApiKey::parse_foreign(&token.key) else {
        let length = token.key.trim().chars().count();
        return (None, vec![FoundInRow::new(Finding::KeyInvalid, Detail::Length { length })]);
    };
    let lifetime = lifetime(token.expired_time, &mut found);
    // An unlimited token is charged below zero there; its remaining quota means nothing.
    let remain = if token.unlimited_quota {
        Quota::grant(token.remain_quota).unwrap_or_default()
    } else {
        balance(token.remain_quota, Finding::TokenDebt, Finding::TokenCapped, &mut found)
    };
    let budget = Budget::new(remain, token.unlimited_quota);
    let (allow_ips, no_ip_left) = allowlist(&token.allow_ips, &mut found);
    let is_refused = is_disabled(token.status, lifetime, budget, now, revive, &mut found);
    let group = Group::from_text(token.group.trim());
    let created_time = time_or(token.created_time, now, now);
    let mapped = MappedToken {
        key_foreign: ApiKey::parse(key.expose()).is_err(),
        key,
        name: name(token.id, &token.name, &mut found),
        is_disabled: is_refused || no_ip_left,
        created_time,
        accessed_time: time_or(token.accessed_time, now, created_time),
        lifetime,
        budget,
        used_quota: used(token.used_quota, Finding::TokenUsedCapped, &mut found),
        model_limits_enabled: token.model_limits_enabled,
        model_limits: models(&token.model_limits, &mut found),
        allow_ips,
        cross_group_retry: group.retry_allowed(token.cross_group_retry),
        group,
    };
    (Some(mapped), found)
}

/// -1 is never; 0 and other negative numbers are long ago; a time that no calendar has never comes, there too.
fn lifetime(expired_time: i64, found: &mut Vec<FoundInRow>) -> Lifetime {
    match expired_time {
        -1 => Lifetime::Forever,
        seconds @ 1..=bounds::LAST_SECOND => Lifetime::Until(UnixTime::new(seconds)),
        other @ 1.. => {
            found.push(FoundInRow::new(Finding::ExpiryBeyondCalendar, Detail::Expiry { expired_time: other }));
            Lifetime::Forever
        }
        other => {
            found.push(FoundInRow::new(Finding::ExpiredFromTheStart, Detail::Expiry { expired_time: other }));
            Lifetime::Until(UnixTime::new(1))
        }
    }
}

/// Returns true if the token is disabled here. *Expired* and *exhausted* follow from expiry and budget here; where
/// they do not, an administrator or an older version of the service set the status.
fn is_disabled(
    status: i64,
    lifetime: Lifetime,
    budget: Budget,
    now: UnixTime,
    revive: bool,
    found: &mut Vec<FoundInRow>,
) -> bool {
    match status {
        1 => false,
        2 => true,
        3 if lifetime.is_over(now) => false,
        4 if budget.is_empty() => false,
        3 | 4 if revive => {
            found.push(FoundInRow::new(Finding::Revived, Detail::Status { status }));
            false
        }
        other => {
            found.push(FoundInRow::new(Finding::SwitchedOff, Detail::Status { status: other }));
            true
        }
    }
}

/// A balance within 0 and the maximum.
fn balance(units: i64, debt: Finding, capped: Finding, found: &mut Vec<FoundInRow>) -> Quota {
    if units < 0 {
        found.push(FoundInRow::quota(debt, units.saturating_neg()));
        return Quota::ZERO;
    }
    Quota::grant(units).unwrap_or_else(|_| {
        found.push(FoundInRow::quota(capped, units.saturating_sub(bounds::MAX_QUOTA)));
        Quota::grant(bounds::MAX_QUOTA).unwrap_or_default()
    })
}

/// What was used, within 0 and the maximum.
fn used(units: i64, finding: Finding, found: &mut Vec<FoundInRow>) -> Quota {
    balance(units, finding, finding, found)
}

/// A time in the past; another one is not known.
fn time_or(seconds: i64, now: UnixTime, default: UnixTime) -> UnixTime {
    if (1..=now.get()).contains(&seconds) { UnixTime::new(seconds) } else { default }
}

/// The text without control and hidden characters, cut to a number of characters.
fn visible(text: &str, most: usize) -> String {
    let is_shown = |c: &char| !c.is_control() && !hides_something(c.encode_utf8(&mut [0; 4]));
    let shown: String = text.chars().filter(is_shown).collect();
    shown.trim().chars().take(most).collect::<String>().trim_end().to_owned()
}

fn name(id: i64, text: &str, found: &mut Vec<FoundInRow>) -> TokenName {
    if let Ok(name) = TokenName::parse(text) {
        return name;
    }
    let shown = visible(text, bounds::MAX_NAME_CHARS);
    let changed = if shown.is_empty() { format!("token {id}") } else { shown };
    found.push(FoundInRow::new(Finding::TokenNameChanged, Detail::changed(text, &changed)));
    // Visible text of this length is valid; if not, the number is.
    TokenName::parse(&changed).or_else(|_| TokenName::parse(&format!("token {id}"))).unwrap_or_else(|_| unnamed())
}

fn unnamed() -> TokenName {
    #[expect(clippy::expect_used, reason = "this name is valid")]
    TokenName::parse("token").expect("valid")
}

/// The entries with `*` that match by prefix in new-api; all others match nothing there.
const PATTERNS: [&str; 5] = [
    "gpt-4-gizmo-*",
    "gpt-4o-gizmo-*",
    "gemini-2.5-pro-thinking-*",
    "gemini-2.5-flash-thinking-*",
    "gemini-2.5-flash-lite-thinking-*",
];

/// The names that are allowed here; a restriction that loses names only becomes stricter. A star that is no pattern
/// there is none here.
fn models(text: &str, found: &mut Vec<FoundInRow>) -> ModelLimits {
    let is_literal = |name: &&str| name.contains('*') && !PATTERNS.contains(name);
    let names = || text.split(',').map(str::trim);
    let (all, literal) = (text.split(',').count(), names().filter(is_literal).count());
    if literal > 0 {
        found.push(FoundInRow::new(Finding::ModelStars, Detail::Dropped { dropped: literal, of: all }));
    }
    let as_here = |name| if is_literal(&name) { ModelLimits::literal(name) } else { name.to_owned() };
    let text: String = names().map(as_here).collect::<Vec<_>>().join(",");
    if let Ok(models) = ModelLimits::parse(&text) {
        return models;
    }
    let names: Vec<&str> = text.split(',').filter(|name| ModelLimits::parse(name).is_ok()).collect();
    let mut kept = names.len().min(bounds::MAX_MODELS);
    loop {
        match ModelLimits::from_names(names.iter().take(kept).copied()) {
            Ok(models) => {
                found.push(FoundInRow::new(Finding::ModelsDropped, Detail::Dropped { dropped: all - kept, of: all }));
                return models;
            }
            Err(_) if kept == 0 => return ModelLimits::default(),
            Err(_) => kept -= 1,
        }
    }
}

/// The valid entries, and whether there were entries but none is valid.
fn allowlist(text: &str, found: &mut Vec<FoundInRow>) -> (IpAllowlist, bool) {
    let entries: Vec<&str> = text.split(['\n', ',', ' ', '\r', '\t']).filter(|entry| !entry.is_empty()).collect();
    let (valid, invalid): (Vec<&str>, Vec<&str>) =
        entries.iter().partition(|entry| ip_allowlist::network(entry).is_some());
    let kept: Vec<&str> = valid.iter().take(bounds::MAX_IPS).copied().collect();
    let list = IpAllowlist::parse(&kept.join("\n")).unwrap_or_default();
    let dropped = invalid.iter().chain(&valid[kept.len()..]).copied().take(5).collect::<Vec<_>>().join(" ");
    match (dropped.is_empty(), list.is_empty()) {
        (true, _) => {}
        (false, false) => found.push(FoundInRow::new(Finding::IpsDropped, Detail::text(dropped))),
        (false, true) => found.push(FoundInRow::new(Finding::NoIpLeft, Detail::text(dropped))),
    }
    let none_is_left = list.is_empty() && !entries.is_empty();
    (list, none_is_left)
}

/// The start of a model's name that is as long as names may be here: a key of an index has a limit.
pub fn cut_model(model: &str) -> &str {
    model.char_indices().nth(bounds::MAX_MODEL_CHARS).map_or(model, |(end, _)| &model[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixTime = UnixTime::new(1_773_144_000);
    const KEY: &str = "Zk3vQm9TtY2wRr8uNn5xHh1cGg6bFf0dEe4sAa7pLl3jKk9i";

    fn token() -> ForeignToken {
        ForeignToken {
            id: 17,
            user_id: 3,
            key: KEY.into(),
            status: 1,
            name: "prod".into(),
            created_time: 5,
            accessed_time: 6,
            expired_time: -1,
            remain_quota: 100,
            used_quota: 7,
            ..ForeignToken::default()
        }
    }

    fn mapped(token: &ForeignToken) -> (MappedToken, Vec<Finding>) {
        let (mapped, found) = map_token(token, NOW, false);
        (mapped.unwrap(), found.into_iter().map(|found| found.finding).collect())
    }

    #[test]
    fn an_ordinary_token_is_moved_as_it_is() {
        let (mapped, found) = mapped(&token());
        assert_eq!(found, []);
        assert_eq!((mapped.key.expose(), mapped.key_foreign), (format!("sk-{KEY}").as_str(), true));
        assert_eq!((mapped.name.as_str(), mapped.is_disabled, mapped.lifetime), ("prod", false, Lifetime::Forever));
        assert_eq!((mapped.budget.remain().get(), mapped.used_quota.get()), (100, 7));
        assert_eq!((mapped.created_time, mapped.accessed_time), (UnixTime::new(5), UnixTime::new(6)));
    }

    #[test]
    #[expect(clippy::type_complexity, reason = "a table")]
    fn a_status_that_expiry_and_quota_do_not_explain_switches_the_token_off() {
        use Finding::{Revived, SwitchedOff, TokenDebt};
        let (past, future) = (NOW.get(), NOW.get() + 1);
        let table: [(i64, i64, i64, bool, bool, &[Finding], bool, &[Finding]); 11] = [
            // status, expiry, remaining, unlimited; disabled, findings; the same with --revive
            (1, past, 0, false, false, &[], false, &[]),
            (2, -1, 5, false, true, &[], true, &[]),
            (2, past, 0, false, true, &[], true, &[]),
            (3, past, 5, false, false, &[], false, &[]),
            (3, future, 5, false, true, &[SwitchedOff], false, &[Revived]),
            (3, -1, 0, false, true, &[SwitchedOff], false, &[Revived]),
            (4, -1, 0, false, false, &[], false, &[]),
            (4, -1, -3, false, false, &[TokenDebt], false, &[TokenDebt]),
            (4, -1, 5, false, true, &[SwitchedOff], false, &[Revived]),
            (4, -1, 0, true, true, &[SwitchedOff], false, &[Revived]),
            (0, -1, 5, false, true, &[SwitchedOff], true, &[SwitchedOff]),
        ];
        for (status, expired_time, remain_quota, unlimited_quota, off, found, revived_off, revived_found) in table {
            let token = ForeignToken { status, expired_time, remain_quota, unlimited_quota, ..token() };
            for (revive, off, expected) in [(false, off, found), (true, revived_off, revived_found)] {
                let (mapped, found) = map_token(&token, NOW, revive);
                let found: Vec<_> = found.into_iter().map(|found| found.finding).collect();
                assert_eq!((mapped.unwrap().is_disabled, found.as_slice()), (off, expected), "{token:?} {revive}");
            }
        }
    }

    #[test]
    fn an_expiry_of_zero_is_long_ago_and_minus_one_is_never() {
        let until = |at| Lifetime::Until(UnixTime::new(at));
        for (expired_time, lifetime, found) in [
            (-1, Lifetime::Forever, None),
            (0, until(1), Some(Finding::ExpiredFromTheStart)),
            (-2, until(1), Some(Finding::ExpiredFromTheStart)),
            (1, until(1), None),
            (4_102_444_800, until(4_102_444_800), None),
            (253_402_300_799, until(253_402_300_799), None),
            (1_767_225_600_000, Lifetime::Forever, Some(Finding::ExpiryBeyondCalendar)),
        ] {
            let (mapped, findings) = mapped(&ForeignToken { expired_time, ..token() });
            assert_eq!((mapped.lifetime, findings), (lifetime, Vec::from_iter(found)), "{expired_time}");
        }
    }

    #[test]
    #[expect(clippy::type_complexity, reason = "a table")]
    fn balances_are_brought_into_range_and_the_rest_is_told() {
        use Finding::{TokenCapped, TokenDebt, TokenUsedCapped};
        let max = bounds::MAX_QUOTA;
        let table: [(i64, bool, i64, i64, i64, &[(Finding, i64)]); 7] = [
            // remaining, unlimited, used; remaining and used here, findings with amounts
            (0, false, 0, 0, 0, &[]),
            (max, false, max, max, max, &[]),
            (-30, false, 5, 0, 5, &[(TokenDebt, 30)]),
            (i64::MIN, false, 5, 0, 5, &[(TokenDebt, i64::MAX)]),
            (max + 7, false, max + 1, max, max, &[(TokenCapped, 7), (TokenUsedCapped, 1)]),
            (-30, true, -2, 0, 0, &[(TokenUsedCapped, 2)]),
            (max + 7, true, 1, 0, 1, &[]),
        ];
        for (remain_quota, unlimited_quota, used_quota, remain, used, expected) in table {
            let token = ForeignToken { remain_quota, unlimited_quota, used_quota, ..token() };
            let (mapped, found) = map_token(&token, NOW, false);
            let mapped = mapped.unwrap();
            let found: Vec<_> = found.into_iter().map(|found| (found.finding, found.amount())).collect();
            assert_eq!((mapped.budget.remain().get(), mapped.used_quota.get()), (remain, used), "{token:?}");
            assert_eq!((mapped.budget.is_unlimited(), found.as_slice()), (unlimited_quota, expected), "{token:?}");
        }
    }

    #[test]
    fn a_name_that_is_not_allowed_here_is_changed() {
        let long = "ü".repeat(51);
        for (text, expected, is_changed) in [
            ("prod", "prod", false),
            ("  prod ", "prod", false),
            ("", "token 17", true),
            (" \t", "token 17", true),
            ("\u{200b}", "token 17", true),
            ("a\u{200b}b\nc", "abc", true),
            (long.as_str(), &"ü".repeat(50), true),
        ] {
            let (mapped, found) = mapped(&ForeignToken { name: text.into(), ..token() });
            assert_eq!(mapped.name.as_str(), expected, "{text:?}");
            assert_eq!(found, if is_changed { vec![Finding::TokenNameChanged] } else { vec![] }, "{text:?}");
        }
    }

    #[test]
    fn addresses_that_are_none_are_dropped_and_a_list_without_any_switches_the_token_off() {
        use Finding::{IpsDropped, NoIpLeft};
        let many = (0..120).map(|n| format!("10.0.0.{n}")).collect::<Vec<_>>().join("\n");
        let table: [(&str, &str, bool, &[Finding]); 8] = [
            ("", "", false, &[]),
            (" \n ", "", false, &[]),
            ("10.0.0.1\r\n 192.168.0.0/16", "10.0.0.1\n192.168.0.0/16", false, &[]),
            ("10.0.0.1,::1", "10.0.0.1\n::1", false, &[]),
            ("10.0.0.1,\nlocalhost", "10.0.0.1", false, &[IpsDropped]),
            ("localhost\n10.0.0.0/33", "", true, &[NoIpLeft]),
            ("0.0.0.0/0", "0.0.0.0/0", false, &[]),
            (&many, &(0..100).map(|n| format!("10.0.0.{n}")).collect::<Vec<_>>().join("\n"), false, &[IpsDropped]),
        ];
        for (text, expected, off, findings) in table {
            let (mapped, found) = mapped(&ForeignToken { allow_ips: text.into(), ..token() });
            assert_eq!((mapped.allow_ips.as_str(), mapped.is_disabled), (expected, off), "{text:?}");
            assert_eq!(found, findings, "{text:?}");
        }
    }

    #[test]
    fn models_that_are_not_allowed_here_are_dropped_and_the_list_stays_a_restriction() {
        let long = "m".repeat(129);
        let many = (0..1_001).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let huge = (0..200).map(|n| format!("{n:0127}")).collect::<Vec<_>>().join(",");
        for (text, count, is_dropped) in [
            ("gpt-4o, o3", 2, false),
            (&format!("o3,{long}"), 1, true),
            (&long, 0, true),
            (&many, 1_000, true),
            (&huge, 128, true),
        ] {
            let (mapped, found) =
                mapped(&ForeignToken { model_limits: text.into(), model_limits_enabled: true, ..token() });
            assert_eq!((mapped.model_limits.names().count(), mapped.model_limits_enabled), (count, true), "{text}");
            assert_eq!(found, if is_dropped { vec![Finding::ModelsDropped] } else { vec![] }, "{text}");
        }
    }

    #[test]
    fn the_patterns_of_new_api_stay_patterns_and_all_other_stars_match_nothing() {
        let limits = |text: &str| {
            let token = ForeignToken { model_limits: text.into(), model_limits_enabled: true, ..token() };
            let (mapped, found) = mapped(&token);
            (mapped.model_limits, found)
        };
        let (list, found) = limits("gpt-4o-gizmo-*, gpt-4-gizmo-*,gemini-2.5-flash-lite-thinking-*");
        assert_eq!(found, vec![]);
        for (model, allowed) in [
            ("gpt-4o-gizmo-g-123", true),
            ("gpt-4-gizmo-g", true),
            ("gemini-2.5-flash-lite-thinking-128", true),
            ("gemini-2.5-flash-thinking-128", false),
            ("gpt-4o", false),
        ] {
            assert_eq!(list.allow(model), allowed, "{model}");
        }
        let (list, found) = limits("o3,claude-*,*,gpt-4o-gizmo-*");
        assert_eq!(found, vec![Finding::ModelStars]);
        assert_eq!(list.as_str(), "o3,claude-\\*,\\*,gpt-4o-gizmo-*");
        assert!(!list.allow("claude-x") && !list.allow("anything") && list.allow("o3"));
    }

    #[test]
    fn keys_of_every_age_are_moved_and_what_cannot_be_a_key_is_left_out() {
        let hex = "0123456789abcdef0123456789abcdef";
        for key in [hex, KEY, &"k".repeat(128), "sk-0123456789abcdef", &format!("{hex}                ")] {
            let (mapped, found) = mapped(&ForeignToken { key: key.into(), ..token() });
            let bare = key.trim().trim_start_matches("sk-");
            assert_eq!((mapped.key.expose(), found), (format!("sk-{bare}").as_str(), vec![]));
        }
        for key in ["", "short", "with-a-hyphen-and-long-enough", &"k".repeat(129), "schlüssel-schlüssel"] {
            let (mapped, found) = map_token(&ForeignToken { key: key.into(), ..token() }, NOW, true);
            assert_eq!((mapped, found[0].finding), (None, Finding::KeyInvalid), "{key}");
            let length = key.chars().count();
            assert_eq!(found[0].detail, Some(Detail::Length { length }), "a key is not repeated");
        }
    }

    #[test]
    fn groups_are_kept_and_retries_only_in_auto() {
        for (group, retry, expected) in
            [("", true, false), ("auto", true, true), ("auto", false, false), ("vip", true, false)]
        {
            let token = ForeignToken { group: group.into(), cross_group_retry: retry, ..token() };
            let (mapped, _) = mapped(&token);
            assert_eq!((mapped.group.as_str(), mapped.cross_group_retry), (group, expected));
        }
    }

    fn user() -> ForeignUser {
        ForeignUser {
            id: 3,
            username: "ana".into(),
            password: "$2a$10$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu".into(),
            display_name: "Ana".into(),
            role: 1,
            status: 1,
            email: "ana@example.org".into(),
            quota: 500,
            used_quota: 70,
            request_count: 9,
            group: "default".into(),
            created_time: 8,
            ..ForeignUser::default()
        }
    }

    #[test]
    fn an_ordinary_account_is_moved_as_it_is() {
        let (mapped, found) = map_user(&user(), NOW);
        let expected = MappedUser {
            display_name: "Ana".into(),
            email: "ana@example.org".into(),
            password_hash: user().password,
            role: Role::User,
            status: UserStatus::Enabled,
            disabled_by: None,
            group: "default".into(),
            quota: Quota::grant(500).unwrap(),
            used_quota: Quota::grant(70).unwrap(),
            request_count: 9,
            created_time: UnixTime::new(8),
            access_token: None,
        };
        assert_eq!((mapped, found), (expected, vec![]));
    }

    #[test]
    fn what_an_account_has_that_is_not_allowed_here_is_changed_and_told() {
        use Finding::{
            AccessTokenSkipped, AffiliateQuota, EmailDropped, LinkedIdentity, NoPassword, PasswordTooCostly,
            RoleUnknown, SecondFactor, UserStatusUnknown, UserUsedCapped, WalletCapped, WalletDebt,
        };
        let costly = user().password.replace("$10$", "$13$");
        let table: [(ForeignUser, &[Finding]); 14] = [
            (ForeignUser { password: user().password.replace("$10$", "$12$"), ..user() }, &[]),
            (ForeignUser { password: costly, ..user() }, &[PasswordTooCostly]),
            (ForeignUser { has_second_factor: true, ..user() }, &[SecondFactor]),
            (ForeignUser { password: String::new(), ..user() }, &[NoPassword]),
            (ForeignUser { password: "plain".into(), ..user() }, &[NoPassword]),
            (ForeignUser { email: "nobody".into(), ..user() }, &[EmailDropped]),
            (ForeignUser { role: 0, ..user() }, &[RoleUnknown]),
            (ForeignUser { status: 7, ..user() }, &[UserStatusUnknown]),
            (ForeignUser { quota: -5, ..user() }, &[WalletDebt]),
            (ForeignUser { quota: bounds::MAX_QUOTA + 1, ..user() }, &[WalletCapped]),
            (ForeignUser { used_quota: -5, ..user() }, &[UserUsedCapped]),
            (ForeignUser { access_token: "short".into(), ..user() }, &[AccessTokenSkipped]),
            (
                ForeignUser { has_linked_identity: true, affiliate_quota: 5, ..user() },
                &[LinkedIdentity, AffiliateQuota],
            ),
            (ForeignUser { display_name: "A\u{202e}na\n".repeat(60), ..user() }, &[]),
        ];
        for (user, expected) in table {
            let (mapped, found) = map_user(&user, NOW);
            assert_eq!(found.into_iter().map(|found| found.finding).collect::<Vec<_>>(), expected, "{user:?}");
            assert!(text::label("display_name", &mapped.display_name).is_ok());
        }
    }

    /// Such as one in milliseconds.
    #[test]
    fn a_time_that_has_not_come_is_that_of_the_import() {
        for (there, here) in
            [(8, 8), (NOW.get(), NOW.get()), (NOW.get() + 1, NOW.get()), (i64::MAX, NOW.get()), (-1, NOW.get())]
        {
            assert_eq!(map_user(&ForeignUser { created_time: there, ..user() }, NOW).0.created_time.get(), here);
            let (mapped, _) = mapped(&ForeignToken { created_time: there, accessed_time: there, ..token() });
            assert_eq!((mapped.created_time.get(), mapped.accessed_time.get()), (here, here));
        }
    }

    #[test]
    fn a_disabled_account_says_who_may_enable_it() {
        for (role, status, disabled_by) in
            [(1, 1, None), (1, 2, Some(Role::Admin)), (10, 2, Some(Role::Root)), (1, 9, Some(Role::Admin))]
        {
            let (mapped, _) = map_user(&ForeignUser { role, status, ..user() }, NOW);
            assert_eq!((mapped.disabled_by, mapped.status == UserStatus::Enabled), (disabled_by, status == 1));
        }
    }

    #[test]
    fn deleted_accounts_of_both_services_are_recognised() {
        assert!(!is_deleted(&user()));
        assert!(is_deleted(&ForeignUser { is_deleted: true, ..user() }));
        assert!(is_deleted(&ForeignUser { status: 3, ..user() }));
    }

    #[test]
    fn an_old_access_token_is_kept_in_one_piece() {
        let token = "0123456789abcdef0123456789abcdef";
        let (mapped, found) = map_user(&ForeignUser { access_token: format!("{token}  "), ..user() }, NOW);
        assert_eq!((mapped.access_token.as_deref(), found), (Some(token), vec![]));
    }
}
