//! A service that looks alive: a few accounts, keys in every state, and two weeks of charges, made as
//! everything else is made, through the services and the ledger, on a clock that runs ahead.

use rand::{CryptoRng, RngExt};
use secrecy::SecretString;

use crate::api::state::AppState;
use crate::domain::audit::Actor;
use crate::domain::caller::{Caller, Credential, Origin};
use crate::domain::enablement::Decision;
use crate::domain::group::Group;
use crate::domain::id::{GatewayId, TokenId};
use crate::domain::ip_allowlist::IpAllowlist;
use crate::domain::ledger::{Counts, RequestContext};
use crate::domain::model_limits::ModelLimits;
use crate::domain::money::Quota;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::policy;
use crate::domain::time::{Clock, DAY, Lifetime, ManualClock, UnixTime};
use crate::domain::token::{Budget, NewToken, RequestedQuota, Switch, TokenName, TokenNote, TokenPatch};
use crate::domain::user::{Role, UserStatus};
use crate::domain::username::Username;
use crate::service::enablement::EnablementError;
use crate::service::gateways::GatewaysError;
use crate::service::keys::KeysError;
use crate::service::ledger::{ChargeRequest, LedgerError};
use crate::service::rng::Rng;
use crate::service::sign_in::SignInError;
use crate::service::tokens::TokensError;
use crate::service::users::{Grant, NewAccount, UserPatch, UsersError};

/// How far back the charges begin.
pub const DAYS: i64 = 14;

const HOUR: i64 = 3_600;
/// How busy each hour of a day is, beside the others.
const BUSY: [i64; 24] = [2, 1, 1, 1, 1, 2, 4, 8, 14, 20, 22, 20, 16, 19, 21, 20, 17, 13, 9, 7, 6, 5, 4, 3];

/// Why it could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("an account of the demo could not be created: {0}")]
    Users(#[from] UsersError),
    #[error("a sign-in of the demo failed: {0}")]
    SignIn(#[from] SignInError),
    #[error("an enablement request of the demo failed: {0}")]
    Enablement(#[from] EnablementError),
    #[error("the gateway of the demo could not be created: {0}")]
    Gateways(#[from] GatewaysError),
    #[error("a key of the demo could not be made: {0}")]
    Tokens(#[from] TokensError),
    #[error("a key of the demo could not be read: {0}")]
    Keys(#[from] KeysError),
    #[error("a charge of the demo was not taken: {0}")]
    Gateway(#[from] LedgerError),
    #[error("the demo describes something that cannot be: {0}")]
    Invalid(String),
}

/// A model: its name, quota units for 1,000 tokens in and out, and how many of each a request has.
struct Model {
    name: &'static str,
    price: (i64, i64),
    tokens: (i64, i64),
}

const LARGE: Model = Model { name: "gpt-4o", price: (1_250, 5_000), tokens: (2_800, 520) };
const SMALL: Model = Model { name: "gpt-4o-mini", price: (75, 300), tokens: (3_600, 700) };
const LONG: Model = Model { name: "claude-sonnet-4", price: (1_500, 7_500), tokens: (6_400, 900) };
const EMBEDDING: Model = Model { name: "text-embedding-3-large", price: (65, 0), tokens: (5_200, 0) };

/// What becomes of a key at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Works,
    /// Nearly spent: it keeps a twelfth of what it used.
    Low,
    Exhausted,
    /// Ends so many days after now; before now if negative.
    Ends(i64),
    SwitchedOff,
}

/// A key: its owner, its name, its quota in dollars (none: the wallet alone), requests a day, models.
struct Key {
    owner: &'static str,
    name: &'static str,
    dollars: Option<i64>,
    daily: i64,
    models: &'static [Model],
    fate: Fate,
}

const fn key(
    owner: &'static str,
    name: &'static str,
    dollars: Option<i64>,
    daily: i64,
    models: &'static [Model],
    fate: Fate,
) -> Key {
    Key { owner, name, dollars, daily, models, fate }
}

const KEYS: [Key; 15] = [
    key("ana", "Prototype", Some(5), 0, &[SMALL], Fate::Works),
    key("ana", "Old laptop", Some(20), 12, &[SMALL], Fate::SwitchedOff),
    key("ana", "Hackathon", Some(40), 60, &[LARGE, SMALL], Fate::Ends(-2)),
    key("ana", "Nightly evaluation", Some(40), 90, &[LARGE], Fate::Exhausted),
    key("ana", "Batch embeddings", None, 260, &[EMBEDDING], Fate::Works),
    key("ana", "Mobile app beta", Some(60), 110, &[SMALL, LARGE], Fate::Ends(3)),
    key("ana", "Support assistant", Some(200), 150, &[LONG], Fate::Low),
    key("ana", "Northwind (customer)", Some(150), 80, &[LARGE, SMALL], Fate::Works),
    key("ana", "Documentation search", Some(30), 140, &[EMBEDDING, SMALL], Fate::Works),
    key("ana", "Production chat", Some(400), 420, &[LARGE, LARGE, SMALL, LONG], Fate::Works),
    key("ben", "Notebook", Some(25), 30, &[LARGE], Fate::Works),
    key("ben", "Thesis experiments", None, 70, &[LONG, SMALL], Fate::Works),
    key("ben", "Tutorial", Some(5), 6, &[SMALL], Fate::Ends(5)),
    key("dora", "Translation", Some(90), 120, &[LARGE, SMALL], Fate::Works),
    key("dora", "Website", Some(10), 20, &[SMALL], Fate::Works),
];

/// A key that was made, and whose.
struct Made {
    key: &'static Key,
    id: TokenId,
    text: String,
    owner: Caller,
}

/// Fills a service that stands at `DAYS` before now, and leaves its clock at now. Tells each day that is done.
///
/// # Errors
/// See [`DemoError`].
pub async fn fill(
    state: &AppState,
    clock: &ManualClock,
    password: &SecretString,
    mut progress: impl FnMut(i64),
) -> Result<(), DemoError> {
    let now = clock.now().plus(DAYS * DAY);
    let root = sign_in(state, "root", password).await?;
    let gateway = state.gateways.create(Actor::from(&root), "llm-gateway").await?.0.id;
    people(state, &root, password).await?;
    let mut made = Vec::new();
    for owner in ["ana", "ben", "dora"] {
        let caller = sign_in(state, owner, password).await?;
        for key in KEYS.iter().filter(|key| key.owner == owner) {
            let token = state.tokens.create(&caller, new_token(key, now)?).await?;
            made.push(Made { key, id: token.token.id, text: token.key.expose().to_owned(), owner: caller.clone() });
        }
    }
    // The same numbers every time; nothing here is a secret.
    let rng = Rng::seeded(14);
    for hour in 0..DAYS * 24 {
        let at = clock.now();
        let of_day = usize::try_from(at.get() / HOUR % 24).unwrap_or(0);
        // The epoch was a Thursday.
        let is_weekend = matches!((at.get() / DAY + 4) % 7, 0 | 6);
        let busy = if is_weekend { BUSY[of_day] * 2 / 5 } else { BUSY[of_day] };
        let charges = made
            .iter()
            .filter(|made| made.key.works_at(hour))
            .flat_map(|made| rng.generate(|rng| requests(made, busy, rng)))
            .map(Ok::<_, LedgerError>);
        state.ledger.charge_each(gateway, charges.collect()).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        clock.advance(HOUR);
        if hour % 24 == 23 {
            progress(hour / 24 + 1);
        }
    }
    for made in &made {
        end(state, gateway, made).await?;
    }
    requests_for_enablement(state, &root, password).await
}

impl Key {
    /// Whether it is still used in this hour of the demo.
    fn works_at(&self, hour: i64) -> bool {
        match self.fate {
            Fate::Works | Fate::Low => true,
            Fate::Exhausted | Fate::SwitchedOff => hour < 10 * 24,
            Fate::Ends(days) => hour < (DAYS + days) * 24 - 1,
        }
    }
}

/// The requests of an hour. The demo's keys are generous enough for all of them.
fn requests(made: &Made, busy: i64, rng: &mut dyn CryptoRng) -> Vec<(String, ChargeRequest)> {
    let all: i64 = BUSY.iter().sum();
    let expected = made.key.daily * busy * rng.random_range(60..140) / 100;
    // What is left over of a request comes as one, now and then.
    let count = expected / all + i64::from(rng.random_range(0..all) < expected % all);
    (0..count).map(|_| (made.text.clone(), request(made.key.models, rng))).collect()
}

fn request(models: &[Model], rng: &mut dyn CryptoRng) -> ChargeRequest {
    let model = &models[rng.random_range(0..models.len())];
    let tokens = |usual: i64, rng: &mut dyn CryptoRng| usual * rng.random_range(30..170) / 100;
    let (input, output) = (tokens(model.tokens.0, rng), tokens(model.tokens.1, rng));
    let cost = (input * model.price.0 + output * model.price.1) / 1_000;
    ChargeRequest {
        quota: Quota::grant(cost).unwrap_or_default(),
        context: RequestContext { model: Some(model.name.to_owned()), ..RequestContext::default() },
        counts: Counts { prompt_tokens: input, completion_tokens: output },
        request_id: None,
    }
}

/// What makes a key end as it shall.
async fn end(state: &AppState, gateway: GatewayId, made: &Made) -> Result<(), DemoError> {
    match made.key.fate {
        Fate::Works | Fate::Ends(_) => {}
        Fate::SwitchedOff => {
            state.tokens.switch(&made.owner, made.id, Switch::Off).await?;
        }
        Fate::Low => {
            let token = state.keys.show(&made.owner, made.id).await?.token;
            let remain_quota = Some(RequestedQuota::new(token.used_quota.get() / 12));
            let patch = TokenPatch { remain_quota, ..TokenPatch::default() };
            state.tokens.edit(&made.owner, made.id, patch).await?;
        }
        Fate::Exhausted => {
            let last = Rng::seeded(14).generate(|rng| request(made.key.models, rng));
            let patch =
                TokenPatch { remain_quota: Some(RequestedQuota::new(last.quota.get())), ..TokenPatch::default() };
            state.tokens.edit(&made.owner, made.id, patch).await?;
            state.ledger.charge(gateway, &made.text, last).await?;
        }
    }
    Ok(())
}

fn new_token(key: &Key, now: UnixTime) -> Result<NewToken, DemoError> {
    let is_customer = key.name.starts_with("Northwind");
    let lifetime = match key.fate {
        Fate::Ends(days) => Lifetime::Until(now.plus(days * DAY - HOUR)),
        Fate::Works | Fate::Low | Fate::Exhausted | Fate::SwitchedOff => Lifetime::Forever,
    };
    let budget = match key.dollars {
        Some(dollars) => Budget::Limited { remain: dollars_of(dollars)? },
        None => Budget::Unlimited { shelved: Quota::ZERO },
    };
    Ok(NewToken {
        name: TokenName::parse(key.name).map_err(invalid)?,
        note: TokenNote::default(),
        lifetime,
        budget,
        model_limits_enabled: is_customer,
        model_limits: ModelLimits::parse(if is_customer { "gpt-4o,gpt-4o-mini" } else { "" }).map_err(invalid)?,
        allow_ips: IpAllowlist::parse(if is_customer { "192.0.2.0/24\n2001:db8::/32" } else { "" }).map_err(invalid)?,
        group: Group::from_text(""),
        cross_group_retry: false,
    })
}

/// The accounts: users at work, one that waits, one that was switched off, and a second administrator.
async fn people(state: &AppState, root: &Caller, password: &SecretString) -> Result<(), DemoError> {
    for (username, display_name, dollars, role) in [
        ("ana", "Ana Silva", 2_000, Role::User),
        ("ben", "Ben Okafor", 250, Role::User),
        ("dora", "Dora Lind", 300, Role::User),
        ("cleo", "Cleo Martin", 0, Role::User),
        ("emil", "Emil Novak", 0, Role::User),
        ("frida", "Frida Berg", 0, Role::Admin),
    ] {
        let enabled = dollars > 0;
        let new = NewAccount {
            username: Username::parse(username).map_err(invalid)?,
            password: NewPassword::parse(expose(password)).map_err(invalid)?,
            display_name: display_name.to_owned(),
            email: format!("{username}@example.org"),
            role,
            group: None,
            quota: None,
            token_api_enabled: enabled,
            max_tokens: None,
        };
        let user = state.users.create(Actor::from(root), new).await?;
        if enabled {
            state.users.grant(root, user.id, Grant::To(dollars_of(dollars)?.get())).await?;
        }
    }
    Ok(())
}

/// Cleo waits for an answer; Emil got one, and was switched off.
async fn requests_for_enablement(state: &AppState, root: &Caller, password: &SecretString) -> Result<(), DemoError> {
    let emil = sign_in(state, "emil", password).await?;
    let asked = state.enablement.request(&emil, "I would like to try a few models.", None).await?;
    state.enablement.decide(root, asked.id, Decision::Refuse, "Please ask with your work account.").await?;
    let off = UserPatch { status: Some(UserStatus::Disabled), ..UserPatch::default() };
    state.users.edit(root, emil.user.id, off).await?;
    let cleo = sign_in(state, "cleo", password).await?;
    let reason = "We are building a search for the archive and need keys for two services.";
    state.enablement.request(&cleo, reason, None).await?;
    Ok(())
}

async fn sign_in(state: &AppState, username: &str, password: &SecretString) -> Result<Caller, DemoError> {
    let origin = Origin { ip: None, request_id: "demo".to_owned() };
    let username = Username::typed(username).map_err(invalid)?;
    let password = TypedPassword::new(expose(password));
    let (user, _) = state.sign_in.sign_in(Some(&username), &password, &origin).await?;
    Ok(Caller { user, credential: Credential::Session, origin })
}

fn dollars_of(dollars: i64) -> Result<Quota, DemoError> {
    Quota::grant(dollars * policy::QUOTA_PER_USD).map_err(invalid)
}

fn invalid(error: impl std::fmt::Display) -> DemoError {
    DemoError::Invalid(error.to_string())
}

fn expose(password: &SecretString) -> &str {
    secrecy::ExposeSecret::expose_secret(password)
}
