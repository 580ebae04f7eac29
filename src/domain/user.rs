//! Accounts: who may do what (spec §1, §5).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection};

use super::id::UserId;
use super::money::Quota;
use super::policy;
use super::text::hides_something;
use super::time::UnixTime;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its number.
    pub id: UserId,
    /// What it signs in with.
    pub username: Username,
    /// What others see; the username if it has set none.
    pub display_name: String,
    /// May be empty.
    pub email: String,
    /// What it may do.
    pub role: Role,
    /// Whether it may do anything at all.
    pub status: UserStatus,
    /// Who disabled it, by the highest role of those who did; absent while it is enabled.
    pub disabled_by: Option<Role>,
    /// The group its tokens use unless they name another.
    pub group: String,
    /// The wallet: what all its tokens together may still spend.
    pub quota: Quota,
    /// What all its tokens together have spent.
    pub used_quota: Quota,
    /// Charges so far.
    pub request_count: i64,
    /// Whether an administrator enabled it for the token API (spec §1).
    pub token_api_enabled: bool,
    /// Its own limit of live tokens, if it differs from the setting.
    pub max_tokens: Option<i64>,
    /// When it was made.
    pub created_time: UnixTime,
}

impl User {
    /// Whether the token-control API works for it (spec §5.3): enabled by an administrator, or one
    /// itself, or the gate is off.
    #[must_use]
    pub const fn may_use_token_api(&self, gate_is_off: bool) -> bool {
        gate_is_off || self.token_api_enabled || self.role.is_admin()
    }

    /// This account enabled by an administrator or root.
    ///
    /// # Errors
    /// What root disabled only root enables.
    pub fn enable(self, by: Role) -> Result<Self, AccountDisabledByRoot> {
        if self.disabled_by == Some(Role::Root) && by != Role::Root {
            return Err(AccountDisabledByRoot);
        }
        Ok(Self { status: UserStatus::Enabled, disabled_by: None, ..self })
    }

    /// This account disabled by an administrator or root. An administrator who disables what root disabled leaves it
    /// root's.
    #[must_use]
    pub fn disable(self, by: Role) -> Self {
        Self { status: UserStatus::Disabled, disabled_by: self.disabled_by.max(Some(by)), ..self }
    }
}

/// An administrator asked to enable an account that root disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("root disabled this account; only root can enable it again")]
pub struct AccountDisabledByRoot;

/// What an account may do. The numbers are those of this API family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[repr(i16)]
pub enum Role {
    /// 1: its own tokens.
    User = 1,
    /// 10: other people's accounts too.
    Admin = 10,
    /// 100: administrators too.
    Root = 100,
}

impl Role {
    /// The number of the wire and of the database.
    #[must_use]
    pub const fn code(self) -> i16 {
        match self {
            Self::User => 1,
            Self::Admin => 10,
            Self::Root => 100,
        }
    }

    /// The role of a number, if it is one.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            1 => Some(Self::User),
            10 => Some(Self::Admin),
            100 => Some(Self::Root),
            _ => None,
        }
    }

    /// Administrators and root.
    #[must_use]
    pub const fn is_admin(self) -> bool {
        match self {
            Self::User => false,
            Self::Admin | Self::Root => true,
        }
    }

    /// The word of the wire for who disabled something, where it was not its owner.
    #[must_use]
    pub const fn disabler(self) -> Option<&'static str> {
        match self {
            Self::User => None,
            Self::Admin => Some("administrator"),
            Self::Root => Some("root"),
        }
    }

    /// Whether this role may change accounts of role `other`: only those below, and root all.
    #[must_use]
    pub fn may_manage(self, other: Self) -> bool {
        self == Self::Root || (self.is_admin() && other < self)
    }
}

/// Whether an account may do anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[repr(i16)]
pub enum UserStatus {
    /// 1.
    Enabled = 1,
    /// 2: every credential of it is refused.
    Disabled = 2,
}

impl UserStatus {
    /// The number of the wire and of the database.
    #[must_use]
    pub const fn code(self) -> i16 {
        match self {
            Self::Enabled => 1,
            Self::Disabled => 2,
        }
    }

    /// The status of a number, if it is one.
    #[must_use]
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            1 => Some(Self::Enabled),
            2 => Some(Self::Disabled),
            _ => None,
        }
    }
}

/// What an account signs in with: no white space, unique in any case and any spelling.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Username(String);

/// The UTS 39 skeleton of a username, as a range of texts: those of live accounts may not overlap. An ASCII name is one
/// point in the range of its skeleton, so that `ann1` and `annl` may both exist; any other name is the whole range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// Equal for all names that look alike.
    pub common: String,
    /// The first text of the range.
    pub first: String,
    /// The last one, included.
    pub last: String,
}

/// A new password, within its bounds. Never printed.
pub struct NewPassword(zeroize::Zeroizing<String>);

/// A password as somebody typed it to be let in. `None` inside if it is longer than any: then it is wrong, and nobody has
/// to hash it. Never printed.
pub struct TypedPassword(Option<zeroize::Zeroizing<String>>);

/// Why a part of an account was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccountInvalid {
    /// Username.
    #[error(
        "`username` must have {} to {} characters, without white space",
        policy::USERNAME_CHARS.start(), policy::USERNAME_CHARS.end()
    )]
    Username,
    /// Characters of a username.
    #[error(
        "`username` may contain letters and digits of one script, and ASCII signs; \
         no invisible characters, symbols or emoji"
    )]
    UsernameCharacters,
    /// Password.
    #[error(
        "the password must have {} to {} characters",
        policy::PASSWORD_CHARS.start(), policy::PASSWORD_CHARS.end()
    )]
    Password,
    /// E-mail.
    #[error("`email` is not an e-mail address")]
    Email,
    /// Display name, name of a credential.
    #[error(
        "`{0}` must have at most {max} characters, without control or invisible characters",
        max = policy::MAX_LABEL_CHARS
    )]
    Label(&'static str),
    /// A label that may not be empty.
    #[error("`{0}` is required")]
    Missing(&'static str),
    /// Reason, note.
    #[error("`{0}` must have at most {max} characters", max = policy::MAX_REASON_CHARS)]
    Text(&'static str),
}

impl Username {
    /// Checks a name that is to be given, and brings it into its one spelling (NFC). Beside ASCII it may hold what
    /// identifiers of today's languages hold (UTS 39, status Allowed), of one script or of those that are written
    /// together; Latin together with Cyrillic or Greek is for deceiving.
    ///
    /// # Errors
    /// Wrong length, white space, control characters; characters that names do not have.
    pub fn parse(text: &str) -> Result<Self, AccountInvalid> {
        let name: String = Self::typed(text)?.0.nfc().collect();
        if !has_length_of_name(&name) {
            return Err(AccountInvalid::Username);
        }
        // Signs of ASCII belong to every script.
        let letters: String = name.chars().filter(|c| !c.is_ascii() || c.is_ascii_alphanumeric()).collect();
        let is_of_one_script = letters.check_restriction_level(RestrictionLevel::ModeratelyRestrictive);
        if !is_of_one_script || name.starts_with(is_combining_mark) || hides_something(&name) {
            return Err(AccountInvalid::UsernameCharacters);
        }
        Ok(Self(name))
    }

    /// A name as somebody typed it to find an account. Older accounts have names that would not be given today.
    ///
    /// # Errors
    /// No name was ever like that.
    pub fn typed(text: &str) -> Result<Self, AccountInvalid> {
        let name = text.trim();
        let length_fits = name.len() <= MAX_TYPED_BYTES
            && (has_length_of_name(name) || has_length_of_name(&name.nfc().collect::<String>()));
        if !length_fits || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(AccountInvalid::Username);
        }
        Ok(Self(name.to_owned()))
    }

    /// As it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that makes it unique in any case and any spelling.
    #[must_use]
    pub fn folded(&self) -> String {
        folded(&self.0)
    }

    /// What it looks like (UTS 39), in any case: `i`, `I`, `l` and `1` are one, and so are `m` and `rn`.
    #[must_use]
    pub fn skeleton(&self) -> Skeleton {
        let skeleton: String = unicode_security::skeleton(&self.0).collect();
        let common = folded(&skeleton).replace('i', "l").replace("rn", "m");
        // No name contains control characters, so they separate the skeleton from what follows.
        if self.0.is_ascii() {
            let point = format!("{common}\u{1}{}", self.folded());
            return Skeleton { common, first: point.clone(), last: point };
        }
        Skeleton { first: format!("{common}\u{1}"), last: format!("{common}\u{2}"), common }
    }
}

/// Bytes of a typed name, so that little is done for what cannot be one: twenty for each character, decomposed.
const MAX_TYPED_BYTES: usize = 1_000;

fn has_length_of_name(text: &str) -> bool {
    policy::USERNAME_CHARS.contains(&text.chars().count())
}

/// Unicode's canonical caseless matching: one form for all spellings and cases.
fn folded(text: &str) -> String {
    caseless::default_case_fold_str(&text.nfd().collect::<String>()).nfc().collect()
}

impl NewPassword {
    /// Checks the length, in characters.
    ///
    /// # Errors
    /// Too short, too long.
    pub fn parse(text: &str) -> Result<Self, AccountInvalid> {
        if !policy::PASSWORD_CHARS.contains(&text.chars().count()) {
            return Err(AccountInvalid::Password);
        }
        Ok(Self(zeroize::Zeroizing::new(text.to_owned())))
    }

    /// In plain, for hashing.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl TypedPassword {
    /// Any text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let may_be_one = text.chars().take(policy::PASSWORD_CHARS.end() + 1).count() <= *policy::PASSWORD_CHARS.end();
        Self(may_be_one.then(|| zeroize::Zeroizing::new(text.to_owned())))
    }

    /// In plain, for checking, if it can be one.
    #[must_use]
    pub fn expose(&self) -> Option<&str> {
        self.0.as_ref().map(|text| text.as_str())
    }
}

/// An e-mail address good enough to write to, or empty.
///
/// # Errors
/// Anything else.
pub fn email(text: &str) -> Result<String, AccountInvalid> {
    let text = text.trim();
    let well_formed = text.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && domain.contains('.') && !domain.contains('@') && !domain.ends_with('.')
    });
    let clean = !text.chars().any(|c| c.is_whitespace() || c.is_control()) && !hides_something(text);
    if text.is_empty() || (well_formed && clean && text.chars().count() <= policy::MAX_EMAIL_CHARS) {
        return Ok(text.to_owned());
    }
    Err(AccountInvalid::Email)
}

/// A short text of one line, such as a display name; trimmed, may be empty.
///
/// # Errors
/// Too long, control or invisible characters.
pub fn label(field: &'static str, text: &str) -> Result<String, AccountInvalid> {
    let text = text.trim();
    let is_long = text.chars().count() > policy::MAX_LABEL_CHARS;
    if is_long || text.chars().any(char::is_control) || hides_something(text) {
        return Err(AccountInvalid::Label(field));
    }
    Ok(text.to_owned())
}

/// A longer text, such as a reason; trimmed, may have lines. NUL is dropped: no database takes it.
///
/// # Errors
/// Too long.
pub fn prose(field: &'static str, text: &str) -> Result<String, AccountInvalid> {
    let text = text.trim().replace('\0', "");
    if text.chars().count() > policy::MAX_REASON_CHARS {
        return Err(AccountInvalid::Text(field));
    }
    Ok(text)
}

/// The state of a request to be enabled for the token API (spec §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum EnablementState {
    /// Waits for an administrator.
    Pending,
    /// The account was enabled.
    Approved,
    /// It was not.
    Refused,
}

impl EnablementState {
    /// The word of the wire and of the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Refused => "refused",
        }
    }

    /// The state of a word, if it is one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Approved, Self::Refused].into_iter().find(|state| state.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_manage_only_those_below_and_root_manages_all() {
        use Role::{Admin, Root, User};
        let table = [
            (User, User, false),
            (User, Admin, false),
            (User, Root, false),
            (Admin, User, true),
            (Admin, Admin, false),
            (Admin, Root, false),
            (Root, User, true),
            (Root, Admin, true),
            (Root, Root, true),
        ];
        for (who, whom, may) in table {
            assert_eq!(who.may_manage(whom), may, "{who:?} {whom:?}");
        }
    }

    #[test]
    fn names_meet_by_their_looks_unless_both_are_ascii() {
        let looks = |name: &str| Username::typed(name).unwrap().skeleton();
        let meet = |one: &str, other: &str| {
            let (one, other) = (looks(one), looks(other));
            one.first <= other.last && other.first <= one.last
        };
        let table = [
            ("ann1", "annl", false),
            ("annI", "annl", false),
            ("O0", "0O", false),
            ("mary", "rnary", false),
            ("ana", "ANA", true),
            ("coco", "\u{441}\u{43e}\u{441}\u{43e}", true),
            ("coc", "\u{441}\u{43e}\u{441}\u{43e}", false),
            ("cocoa", "\u{441}\u{43e}\u{441}\u{43e}", false),
            ("ilya", "\u{406}\u{4cf}\u{443}\u{430}", true),
            ("i1ya", "\u{456}\u{4cf}\u{443}\u{430}", true),
            ("paypal", "p\u{430}yp\u{430}l", true),
            ("mary", "rn\u{430}ry", true),
            ("jose", "jos\u{e9}", false),
            ("josé", "jose\u{301}", true),
        ];
        for (one, other, expected) in table {
            assert_eq!(meet(one, other), expected, "{one} {other}");
            assert_eq!(meet(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn what_root_disabled_only_root_enables() {
        use Role::{Admin, Root};
        let account = |disabled_by: &[Role]| disabled_by.iter().fold(user(), |user, by| user.disable(*by));
        let table: [(&[Role], Option<Role>, Role, bool); 12] = [
            // disabled by these one after the other, whose it is then, who enables it, whether that works
            (&[], None, Admin, true),
            (&[], None, Root, true),
            (&[Admin], Some(Admin), Admin, true),
            (&[Admin], Some(Admin), Root, true),
            (&[Admin, Admin], Some(Admin), Admin, true),
            (&[Admin, Root], Some(Root), Admin, false),
            (&[Admin, Root], Some(Root), Root, true),
            (&[Root], Some(Root), Admin, false),
            (&[Root], Some(Root), Root, true),
            (&[Root, Admin], Some(Root), Admin, false),
            (&[Root, Admin], Some(Root), Root, true),
            (&[Root, Root], Some(Root), Admin, false),
        ];
        for (disabling, disabled_by, who, may) in table {
            let disabled = account(disabling);
            let status = if disabling.is_empty() { UserStatus::Enabled } else { UserStatus::Disabled };
            assert_eq!((disabled.status, disabled.disabled_by), (status, disabled_by), "{disabling:?}");
            let expected = if may { Ok(user()) } else { Err(AccountDisabledByRoot) };
            assert_eq!(disabled.enable(who), expected, "{disabling:?}, enabled by {who:?}");
        }
    }

    fn user() -> User {
        User {
            id: UserId::new(1),
            username: Username::parse("ana").unwrap(),
            display_name: String::new(),
            email: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
            disabled_by: None,
            group: String::new(),
            quota: Quota::ZERO,
            used_quota: Quota::ZERO,
            request_count: 0,
            token_api_enabled: false,
            max_tokens: None,
            created_time: UnixTime::new(0),
        }
    }

    #[test]
    fn accounts_are_checked() {
        assert!(Username::parse("ana").is_ok());
        assert_eq!(Username::parse("ana maria"), Err(AccountInvalid::Username));
        assert_eq!(Username::parse(""), Err(AccountInvalid::Username));
        assert_eq!(Username::parse(&"x".repeat(51)), Err(AccountInvalid::Username));
        assert_eq!(Username::parse(&"e\u{301}".repeat(50)).unwrap().as_str(), "é".repeat(50));
        assert_eq!(Username::typed(&"x".repeat(51)), Err(AccountInvalid::Username));
        assert_eq!(Username::typed(&"e\u{301}".repeat(2_000)), Err(AccountInvalid::Username));
        assert!(Username::typed("p\u{430}ypal").is_ok() && Username::parse("p\u{430}ypal").is_err());
        assert!(TypedPassword::new(&"ü".repeat(128)).expose().is_some());
        assert!(TypedPassword::new(&"ü".repeat(129)).expose().is_none());
        assert!(NewPassword::parse("12345678").is_ok());
        assert!(NewPassword::parse("1234567").is_err());
        assert!(NewPassword::parse(&"ü".repeat(128)).is_ok());
        assert!(NewPassword::parse(&"ü".repeat(129)).is_err());
        assert_eq!(email(""), Ok(String::new()));
        assert!(email("ana@example.org").is_ok());
        for bad in ["ana", "@example.org", "ana@", "a na@example.org", "a@b@example.org"] {
            assert_eq!(email(bad), Err(AccountInvalid::Email), "{bad}");
        }
    }
}
