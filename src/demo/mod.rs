//! Demo data: a few users, keys in every state, and two weeks of charges. They are created through the services and the
//! ledger, with a clock that moves from two weeks ago to now.

mod keys;

use rand::{CryptoRng, RngExt};
use secrecy::SecretString;

use self::keys::{DemoKey, FinalState, KEYS, Model};
use crate::api::state::AppState;
use crate::domain::audit::Actor;
use crate::domain::caller::{Caller, Credential, Origin};
use crate::domain::enablement::Decision;
use crate::domain::group::Group;
use crate::domain::id::{GatewayId, TokenId};
use crate::domain::ip_allowlist::IpAllowlist;
use crate::domain::ledger::{Counts, RequestContext};
use crate::domain::limit_change::LimitChange;
use crate::domain::model_limits::ModelLimits;
use crate::domain::money::Quota;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::period_limits::{PeriodLimits, PeriodLimitsPatch};
use crate::domain::policy;
use crate::domain::rate_limits::{RateLimits, RateLimitsPatch};
use crate::domain::time::{Clock, DAY, Lifetime, ManualClock, UnixTime};
use crate::domain::token::{Budget, NewToken, QuotaChange, RequestedQuota, Switch, TokenName, TokenNote, TokenPatch};
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

/// Days of charges before now.
pub const DAYS: i64 = 14;

const HOUR: i64 = 3_600;
/// The relative load of each hour of a day.
const LOAD_BY_HOUR: [i64; 24] = [2, 1, 1, 1, 1, 2, 4, 8, 14, 20, 22, 20, 16, 19, 21, 20, 17, 13, 9, 7, 6, 5, 4, 3];

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("cannot create a demo user: {0}")]
    Users(#[from] UsersError),
    #[error("cannot sign in a demo user: {0}")]
    SignIn(#[from] SignInError),
    #[error("cannot create a demo enablement request: {0}")]
    Enablement(#[from] EnablementError),
    #[error("cannot create the demo gateway: {0}")]
    Gateways(#[from] GatewaysError),
    #[error("cannot create a demo key: {0}")]
    Tokens(#[from] TokensError),
    #[error("cannot read a demo key: {0}")]
    Keys(#[from] KeysError),
    #[error("a demo charge failed: {0}")]
    Gateway(#[from] LedgerError),
    #[error("invalid demo data: {0}")]
    Invalid(String),
}

/// A key that was created, with its owner.
struct CreatedKey {
    key: &'static DemoKey,
    id: TokenId,
    text: String,
    owner: Caller,
}

/// Fills an empty database. `clock` must be [`DAYS`] before now; it is moved to now. Calls `progress` after each day.
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
    create_users(state, &root, password).await?;
    let mut created = Vec::new();
    for owner in ["ana", "ben", "dora"] {
        let caller = sign_in(state, owner, password).await?;
        for key in KEYS.iter().filter(|key| key.owner == owner) {
            let token = state.tokens.create(&caller, new_token(key, now)?).await?;
            created.push(CreatedKey {
                key,
                id: token.token.id,
                text: token.key.expose().to_owned(),
                owner: caller.clone(),
            });
        }
    }
    // A fixed seed: the data are the same every time, and nothing here is secret.
    let rng = Rng::seeded(14);
    for hour in 0..DAYS * 24 {
        let at = clock.now();
        let hour_of_day = usize::try_from(at.get() / HOUR % 24).unwrap_or(0);
        // The epoch was a Thursday.
        let is_weekend = matches!((at.get() / DAY + 4) % 7, 0 | 6);
        let load = if is_weekend { LOAD_BY_HOUR[hour_of_day] * 2 / 5 } else { LOAD_BY_HOUR[hour_of_day] };
        let charges = created
            .iter()
            .filter(|created| created.key.is_used_at(hour))
            .flat_map(|created| rng.generate(|rng| requests_of_hour(created, load, rng)))
            .map(Ok::<_, LedgerError>);
        state.ledger.charge_each(gateway, charges.collect()).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        clock.advance(HOUR);
        if hour % 24 == 23 {
            progress(hour / 24 + 1);
        }
    }
    for created in &created {
        apply_final_state(state, gateway, created).await?;
        apply_limits(state, created).await?;
    }
    limit_account(state, &root, &created).await?;
    create_enablement_requests(state, &root, password).await
}

impl DemoKey {
    /// Returns true if the key is still used in this hour of the demo.
    fn is_used_at(&self, hour: i64) -> bool {
        match self.final_state {
            FinalState::Enabled | FinalState::NearlySpent => true,
            FinalState::Exhausted | FinalState::Disabled => hour < 10 * 24,
            FinalState::Expires(days) => hour < (DAYS + days) * 24 - 1,
        }
    }
}

/// The requests of an hour. Every key has quota for all of them.
fn requests_of_hour(created: &CreatedKey, load: i64, rng: &mut dyn CryptoRng) -> Vec<(String, ChargeRequest)> {
    let total: i64 = LOAD_BY_HOUR.iter().sum();
    let expected = created.key.requests_per_day * load * rng.random_range(60..140) / 100;
    // The fraction of a request becomes a whole request with that probability.
    let count = expected / total + i64::from(rng.random_range(0..total) < expected % total);
    (0..count).map(|_| (created.text.clone(), request(created.key.models, rng))).collect()
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

/// Brings a key into its final state.
async fn apply_final_state(state: &AppState, gateway: GatewayId, created: &CreatedKey) -> Result<(), DemoError> {
    match created.key.final_state {
        FinalState::Enabled | FinalState::Expires(_) => {}
        FinalState::Disabled => {
            state.tokens.switch(&created.owner, created.id, Switch::Off).await?;
        }
        FinalState::NearlySpent => {
            let token = state.keys.show(&created.owner, created.id).await?.token;
            let remain_quota = Some(QuotaChange::Set(RequestedQuota::new(token.used_quota.get() / 12)));
            let patch = TokenPatch { remain_quota, ..TokenPatch::default() };
            state.tokens.edit(&created.owner, created.id, patch).await?;
        }
        FinalState::Exhausted => {
            let last = Rng::seeded(14).generate(|rng| request(created.key.models, rng));
            let remain_quota = Some(QuotaChange::Set(RequestedQuota::new(last.quota.get())));
            let patch = TokenPatch { remain_quota, ..TokenPatch::default() };
            state.tokens.edit(&created.owner, created.id, patch).await?;
            state.ledger.charge(gateway, &created.text, last).await?;
        }
    }
    Ok(())
}

/// Sets limits that renew, and rates. After the charges, so that none of them is refused.
async fn apply_limits(state: &AppState, created: &CreatedKey) -> Result<(), DemoError> {
    let per_day = |dollars| -> Result<PeriodLimitsPatch, DemoError> {
        Ok(PeriodLimitsPatch { day: LimitChange::Set(dollars_of(dollars)?), ..PeriodLimitsPatch::default() })
    };
    let patch = match created.key.name {
        "Production chat" => TokenPatch {
            period_limits: per_day(10)?,
            rate_limits: RateLimitsPatch {
                requests_per_minute: LimitChange::Set(600),
                concurrency: LimitChange::Set(20),
                ..RateLimitsPatch::default()
            },
            ..TokenPatch::default()
        },
        "Support assistant" => TokenPatch { period_limits: per_day(5)?, ..TokenPatch::default() },
        _ => return Ok(()),
    };
    state.tokens.edit(&created.owner, created.id, patch).await?;
    Ok(())
}

/// Limits what all keys of Ana may spend in a month.
async fn limit_account(state: &AppState, root: &Caller, created: &[CreatedKey]) -> Result<(), DemoError> {
    let Some(key) = created.iter().find(|created| created.key.owner == "ana") else {
        return Ok(());
    };
    let month = LimitChange::Set(dollars_of(400)?);
    let period_limits = PeriodLimitsPatch { month, ..PeriodLimitsPatch::default() };
    let patch = UserPatch { period_limits, ..UserPatch::default() };
    state.users.edit(root, key.owner.user.id, patch).await?;
    Ok(())
}

fn new_token(key: &DemoKey, now: UnixTime) -> Result<NewToken, DemoError> {
    let is_customer = key.name.starts_with("Northwind");
    let lifetime = match key.final_state {
        FinalState::Expires(days) => Lifetime::Until(now.plus(days * DAY - HOUR)),
        FinalState::Enabled | FinalState::NearlySpent | FinalState::Exhausted | FinalState::Disabled => {
            Lifetime::Forever
        }
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
        period_limits: PeriodLimits::default(),
        rate_limits: RateLimits::default(),
        model_limits_enabled: is_customer,
        model_limits: ModelLimits::parse(if is_customer { "gpt-4o,gpt-4o-mini" } else { "" }).map_err(invalid)?,
        allow_ips: IpAllowlist::parse(if is_customer { "192.0.2.0/24\n2001:db8::/32" } else { "" }).map_err(invalid)?,
        group: Group::from_text(""),
        cross_group_retry: false,
    })
}

/// Users with keys, one with a pending enablement request, one that becomes disabled, and a second administrator.
async fn create_users(state: &AppState, root: &Caller, password: &SecretString) -> Result<(), DemoError> {
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
            state.users.grant(root, user.id, Grant::To(dollars_of(dollars)?.get()), "Starting balance").await?;
        }
    }
    Ok(())
}

/// Cleo's request is pending. Emil's request was refused, and his account is disabled.
async fn create_enablement_requests(state: &AppState, root: &Caller, password: &SecretString) -> Result<(), DemoError> {
    let emil = sign_in(state, "emil", password).await?;
    let request = state.enablement.request(&emil, "I would like to try a few models.", None).await?;
    state.enablement.decide(root, request.id, Decision::Refuse, "Please ask with your work account.").await?;
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
