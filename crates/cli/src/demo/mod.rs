//! Demo data: a few users, keys in every state, and three months of charges. They are created through the services and
//! the ledger, with a clock that moves from then to now.

mod accounts;
mod keys;
mod limits;

use rand::{CryptoRng, RngExt};
use secrecy::SecretString;

use self::accounts::{DemoGateways, People};
pub use self::keys::MODELS;
use self::keys::{DemoKey, FinalState, KEYS, Model};
use keymeter::api::state::AppState;
use keymeter::domain::bounds;
use keymeter::domain::caller::{Caller, Credential, Origin};
use keymeter::domain::clock::{Clock, ManualClock};
use keymeter::domain::expected_version::ExpectedVersion;
use keymeter::domain::group::Group;
use keymeter::domain::id::{GatewayId, TokenId};
use keymeter::domain::ip_allowlist::IpAllowlist;
use keymeter::domain::ledger::RequestContext;
use keymeter::domain::model_limits::ModelLimits;
use keymeter::domain::money::Quota;
use keymeter::domain::password::TypedPassword;
use keymeter::domain::prices::cost::Cost;
use keymeter::domain::prices::units::Units;
use keymeter::domain::refusals::RefusedCall;
use keymeter::domain::time::{DAY, Lifetime, UnixTime};
use keymeter::domain::token::{RequestedQuota, Switch, TokenName, TokenNote};
use keymeter::domain::token_patch::{NewToken, QuotaChange, TokenPatch};
use keymeter::domain::username::Username;
use keymeter::service::access_tokens::AccessTokensError;
use keymeter::service::authenticator::AuthError;
use keymeter::service::enablement::EnablementError;
use keymeter::service::gateways::GatewaysError;
use keymeter::service::keys::KeysError;
use keymeter::service::ledger::{LedgerError, QuotaRequest};
use keymeter::service::rng::Rng;
use keymeter::service::sign_in::SignInError;
use keymeter::service::tokens::{Shows, TokensError};
use keymeter::service::users::UsersError;

/// Days of charges before now. The charges of 90 days are kept by default, and today is one of them.
pub const DAYS: i64 = 89;

/// The last days have charges in every hour, those before every six hours.
const HOURLY_DAYS: i64 = 14;
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
    #[error("cannot create a demo gateway: {0}")]
    Gateways(#[from] GatewaysError),
    #[error("cannot create a demo access token: {0}")]
    AccessTokens(#[from] AccessTokensError),
    #[error("cannot use a demo credential: {0}")]
    Credential(#[from] AuthError),
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
    let end = clock.now().plus(DAYS * DAY);
    let people = accounts::create_users(state, password).await?;
    let mut gateways = accounts::create_gateways(state, &people.root).await?;
    let access_token = accounts::create_access_tokens(state, people.owner("ana")?, end).await?;
    // A fixed seed: the data are the same every time, and nothing here is secret.
    let rng = Rng::seeded(14);
    let mut created = Vec::new();
    let mut hour = 0;
    while hour < DAYS * 24 {
        if hour % 24 == 0 {
            begin_day(state, hour / 24, end, &people, &mut gateways, &mut created).await?;
        }
        let step = if hour < (DAYS - HOURLY_DAYS) * 24 { 6 } else { 1 };
        charge(state, &gateways, &created, &rng, hour, step).await?;
        clock.advance(step * HOUR);
        hour += step;
        if hour % 24 == 0 {
            progress(hour / 24);
        }
    }
    for created in &created {
        apply_final_state(state, &people, &gateways, created).await?;
        limits::apply(state, created).await?;
    }
    for created in &created {
        go_on_using(state, gateways.main, created).await?;
    }
    accounts::limit_accounts(state, &people).await?;
    state.authenticator.by_access_token(&access_token, None).await?;
    gateways.finish(state, &people.root).await?;
    accounts::create_enablement_requests(state, &people.root, password).await
}

/// What happens at the beginning of a day: new keys, amounts added to wallets, and another credential of a gateway.
async fn begin_day(
    state: &AppState,
    day: i64,
    end: UnixTime,
    people: &People,
    gateways: &mut DemoGateways,
    created: &mut Vec<CreatedKey>,
) -> Result<(), DemoError> {
    for key in KEYS.iter().filter(|key| key.first_day == day) {
        let owner = people.owner(key.owner)?.clone();
        let (token, made) = state.tokens.create(&owner, new_token(key, end)?, None, Shows::Key).await?.answer;
        let text = made.map(|made| made.expose().to_owned()).unwrap_or_default();
        created.push(CreatedKey { key, id: token.id, text, owner });
    }
    match day {
        30 | 60 => accounts::top_up(state, people).await,
        62 => gateways.renew_credential(state, &people.root).await,
        86 => gateways.use_batch(state).await,
        _ => Ok(()),
    }
}

/// The charges of some hours.
async fn charge(
    state: &AppState,
    gateways: &DemoGateways,
    created: &[CreatedKey],
    rng: &Rng,
    hour: i64,
    hours: i64,
) -> Result<(), DemoError> {
    let load =
        (0..hours).map(|later| load_at(state.core.clock.now().plus(later * HOUR))).sum::<i64>() * growth(hour) / 100;
    let charges = created
        .iter()
        .filter(|created| created.key.is_used_at(hour))
        .flat_map(|created| rng.generate(|rng| requests(created, load, rng)))
        .map(Ok::<_, LedgerError>);
    state.ledger.charge_each(gateways.main, charges.collect()).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(())
}

/// The relative load of an hour; less on weekends.
fn load_at(at: UnixTime) -> i64 {
    let hour_of_day = usize::try_from(at.get() / HOUR % 24).unwrap_or(0);
    // The epoch was a Thursday.
    let is_weekend = matches!((at.get() / DAY + 4) % 7, 0 | 6);
    if is_weekend { LOAD_BY_HOUR[hour_of_day] * 2 / 5 } else { LOAD_BY_HOUR[hour_of_day] }
}

/// The load of an hour of the demo in percent of the load at its end.
const fn growth(hour: i64) -> i64 {
    let total = DAYS * 24;
    15 + 85 * hour * hour / (total * total)
}

/// The requests of a load. Every key has quota for all of them.
fn requests(created: &CreatedKey, load: i64, rng: &mut dyn CryptoRng) -> Vec<(String, QuotaRequest)> {
    let total: i64 = LOAD_BY_HOUR.iter().sum();
    let expected = created.key.requests_per_day * load * rng.random_range(60..140) / 100;
    // The fraction of a request becomes a whole request with that probability.
    let count = expected / total + i64::from(rng.random_range(0..total) < expected % total);
    (0..count).map(|_| (created.text.clone(), request(created.key.models, rng))).collect()
}

fn request(models: &[Model], rng: &mut dyn CryptoRng) -> QuotaRequest {
    let model = &models[rng.random_range(0..models.len())];
    let tokens = |usual: i64, rng: &mut dyn CryptoRng| usual * rng.random_range(30..170) / 100;
    let (input, output) = (tokens(model.tokens.0, rng), tokens(model.tokens.1, rng));
    let cost = (input * model.price.0 + output * model.price.1) / 1_000;
    QuotaRequest {
        context: RequestContext { model: Some(model.name.to_owned()), ..RequestContext::default() },
        cost: Cost {
            quota: Some(Quota::grant(cost).unwrap_or_default()),
            units: Units::from([("input_tokens", input), ("output_tokens", output)]),
            ..Cost::default()
        },
        usage: None,
        request_id: None,
    }
}

/// Brings a key into its final state.
async fn apply_final_state(
    state: &AppState,
    people: &People,
    gateways: &DemoGateways,
    created: &CreatedKey,
) -> Result<(), DemoError> {
    match created.key.final_state {
        FinalState::Enabled | FinalState::Expires(_) => {}
        FinalState::Disabled => {
            state.tokens.switch(&created.owner, created.id, Switch::Off, &ExpectedVersion::Any).await?;
        }
        FinalState::Locked => {
            state.tokens.switch_any_user(&people.root, created.id, Switch::Off).await?;
        }
        FinalState::NearlySpent => {
            let token = state.keys.show(&created.owner, created.id).await?.token;
            let remain_quota = Some(QuotaChange::Set(RequestedQuota::new(token.account.used.get() / 12)));
            let patch = TokenPatch { remain_quota, ..TokenPatch::default() };
            state.tokens.edit(&created.owner, created.id, patch, &ExpectedVersion::Any, None).await?;
        }
        FinalState::Exhausted => {
            let last = Rng::seeded(14).generate(|rng| request(created.key.models, rng));
            let remain_quota = Some(QuotaChange::Set(RequestedQuota::new(last.cost.quota.map_or(0, Quota::get))));
            let patch = TokenPatch { remain_quota, ..TokenPatch::default() };
            state.tokens.edit(&created.owner, created.id, patch, &ExpectedVersion::Any, None).await?;
            state.ledger.charge(gateways.main, &created.text, last).await?;
        }
    }
    Ok(())
}

/// Clients go on sending requests with a key that can no longer be used, and one of them asks for a model that its key
/// does not allow. All of these are refused.
async fn go_on_using(state: &AppState, gateway: GatewayId, created: &CreatedKey) -> Result<(), DemoError> {
    let (model, requests) = match created.key.final_state {
        _ if created.key.is_customer() => ("claude-sonnet-4", 6),
        FinalState::Disabled | FinalState::Locked | FinalState::Exhausted => {
            (created.key.models[0].name, created.key.requests_per_day / 3)
        }
        FinalState::Expires(days) if days < 0 => (created.key.models[0].name, created.key.requests_per_day),
        FinalState::Enabled | FinalState::NearlySpent | FinalState::Expires(_) => return Ok(()),
    };
    let context = RequestContext { model: Some(model.to_owned()), ..RequestContext::default() };
    for _ in 0..requests {
        state
            .ledger
            .verify((gateway, RefusedCall::Verify), &created.text, &context, Some(&Quota::LEAST.into()))
            .await?;
    }
    Ok(())
}

fn new_token(key: &DemoKey, end: UnixTime) -> Result<NewToken, DemoError> {
    let is_customer = key.is_customer();
    let lifetime = match key.final_state {
        FinalState::Expires(days) => Lifetime::Until(end.plus(days * DAY - HOUR)),
        FinalState::Enabled
        | FinalState::NearlySpent
        | FinalState::Exhausted
        | FinalState::Disabled
        | FinalState::Locked => Lifetime::Forever,
    };
    let note = if is_customer { "Invoiced monthly. Their servers have fixed addresses." } else { "" };
    let (models, addresses) =
        if is_customer { ("gpt-4o,gpt-4o-mini", "192.0.2.0/24\n2001:db8::/32") } else { ("", "") };
    let fields = TokenPatch {
        note: Some(TokenNote::parse(note).map_err(invalid)?),
        lifetime: Some(lifetime),
        remain_quota: key.dollars.map(|dollars| QuotaChange::Set(RequestedQuota::new(dollars * bounds::QUOTA_PER_USD))),
        unlimited_quota: Some(key.dollars.is_none()),
        model_limits_enabled: Some(is_customer),
        model_limits: Some(ModelLimits::parse(models).map_err(invalid)?),
        allow_ips: Some(IpAllowlist::parse(addresses).map_err(invalid)?),
        group: Some(Group::from_text(key.group)),
        ..TokenPatch::default()
    };
    Ok(NewToken { name: TokenName::parse(key.name).map_err(invalid)?, fields })
}

async fn sign_in(state: &AppState, username: &str, password: &SecretString) -> Result<Caller, DemoError> {
    let origin = Origin { ip: None, request_id: "demo".to_owned() };
    let username = Username::typed(username).map_err(invalid)?;
    let password = TypedPassword::new(expose(password));
    let (user, _) = state.sign_in.sign_in(Some(&username), &password, &origin).await?;
    Ok(Caller { user, credential: Credential::Session, origin })
}

fn dollars_of(dollars: i64) -> Result<Quota, DemoError> {
    Quota::grant(dollars * bounds::QUOTA_PER_USD).map_err(invalid)
}

fn invalid(error: impl std::fmt::Display) -> DemoError {
    DemoError::Invalid(error.to_string())
}

fn expose(password: &SecretString) -> &str {
    secrecy::ExposeSecret::expose_secret(password)
}
