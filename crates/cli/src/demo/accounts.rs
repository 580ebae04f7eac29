//! The users of the demo, their wallets, access tokens and requests, and the gateways.

use secrecy::SecretString;

use super::{DemoError, dollars_of, expose, invalid, sign_in};
use keymeter::api::state::AppState;
use keymeter::domain::audit::Actor;
use keymeter::domain::caller::Caller;
use keymeter::domain::enablement::Decision;
use keymeter::domain::id::GatewayId;
use keymeter::domain::limit_change::LimitChange;
use keymeter::domain::password::NewPassword;
use keymeter::domain::period_limits::PeriodLimitsPatch;
use keymeter::domain::secrets::{AccessTokenSecret, GatewaySecret};
use keymeter::domain::time::{DAY, Lifetime, UnixTime};
use keymeter::domain::user::{Role, UserPatch, UserStatus};
use keymeter::domain::username::Username;
use keymeter::service::users::{Grant, NewUser, UserChange};

struct DemoUser {
    name: &'static str,
    display_name: &'static str,
    role: Role,
    group: Option<&'static str>,
    /// The first amount in the wallet, and what is added every month. 0 for users without API access.
    dollars: i64,
}

const fn user(name: &'static str, display_name: &'static str, role: Role, dollars: i64) -> DemoUser {
    DemoUser { name, display_name, role, group: None, dollars }
}

const USERS: [DemoUser; 8] = [
    user("ana", "Ana Silva", Role::User, 400),
    user("ben", "Ben Okafor", Role::User, 60),
    user("dora", "Dora Lind", Role::User, 80),
    DemoUser { group: Some("partners"), ..user("hana", "Hana Sato", Role::User, 90) },
    user("cleo", "Cleo Martin", Role::User, 0),
    user("emil", "Emil Novak", Role::User, 0),
    user("gus", "Gustav Holm", Role::User, 0),
    user("frida", "Frida Berg", Role::Admin, 0),
];

/// The users with keys, and the administrator root.
pub(super) struct People {
    pub(super) root: Caller,
    owners: Vec<Caller>,
}

impl People {
    pub(super) fn owner(&self, name: &str) -> Result<&Caller, DemoError> {
        let found = self.owners.iter().find(|caller| caller.user.username.as_str() == name);
        found.ok_or_else(|| DemoError::Invalid(format!("no user {name}")))
    }
}

pub(super) async fn create_users(state: &AppState, password: &SecretString) -> Result<People, DemoError> {
    let mut people = People { root: sign_in(state, "root", password).await?, owners: Vec::new() };
    for demo in &USERS {
        let fields = UserPatch {
            display_name: Some(demo.display_name.to_owned()),
            email: Some(format!("{}@example.org", demo.name)),
            role: Some(demo.role),
            group: demo.group.map(str::to_owned),
            token_api_enabled: Some(demo.dollars > 0),
            ..UserPatch::default()
        };
        let new = NewUser {
            username: Username::parse(demo.name).map_err(invalid)?,
            password: NewPassword::parse(expose(password)).map_err(invalid)?,
            quota: None,
            fields,
        };
        let user = state.users.create(Actor::from(&people.root), new).await?;
        if demo.dollars > 0 {
            state
                .users
                .grant(&people.root, user.id, Grant::To(dollars_of(demo.dollars)?.get()), "Starting balance", None)
                .await?;
            people.owners.push(sign_in(state, demo.name, password).await?);
        }
    }
    Ok(people)
}

/// Adds the monthly amount to each wallet.
pub(super) async fn top_up(state: &AppState, people: &People) -> Result<(), DemoError> {
    for demo in USERS.iter().filter(|demo| demo.dollars > 0) {
        let owner = people.owner(demo.name)?.user.id;
        state
            .users
            .grant(&people.root, owner, Grant::By(dollars_of(demo.dollars)?.get()), "Monthly budget", None)
            .await?;
    }
    Ok(())
}

/// Limits what all keys of Ana may spend in a month, and leaves little in Ben's wallet.
pub(super) async fn limit_accounts(state: &AppState, people: &People) -> Result<(), DemoError> {
    let period_limits = PeriodLimitsPatch { month: LimitChange::Set(dollars_of(500)?), ..PeriodLimitsPatch::default() };
    let fields = UserPatch { period_limits, ..UserPatch::default() };
    let change = UserChange { fields, ..UserChange::default() };
    state.users.edit(&people.root, people.owner("ana")?.user.id, change).await?;
    let ben = people.owner("ben")?.user.id;
    state.users.grant(&people.root, ben, Grant::To(dollars_of(3)?.get()), "Unused budget returned", None).await?;
    Ok(())
}

/// The requests of Gustav and Cleo are pending. Emil's request was refused, and his account is disabled.
pub(super) async fn create_enablement_requests(
    state: &AppState,
    root: &Caller,
    password: &SecretString,
) -> Result<(), DemoError> {
    let emil = sign_in(state, "emil", password).await?;
    let request = state.enablement.request(&emil, "I would like to try a few models.", None).await?;
    state.enablement.decide(root, request.id, Decision::Refuse, "Please ask with your work account.").await?;
    let off = UserChange { status: Some(UserStatus::Disabled), ..UserChange::default() };
    state.users.edit(root, emil.user.id, off).await?;
    for (username, reason) in [
        ("gus", "For the internal help desk: answers drafted from our own manuals."),
        ("cleo", "We are building a search for the archive and need keys for two services."),
    ] {
        let caller = sign_in(state, username, password).await?;
        state.enablement.request(&caller, reason, None).await?;
    }
    Ok(())
}

/// The gateways and the secrets of their credentials.
pub(super) struct DemoGateways {
    /// Makes all charges.
    pub(super) main: GatewayId,
    credential: GatewaySecret,
    batch: GatewaySecret,
}

pub(super) async fn create_gateways(state: &AppState, root: &Caller) -> Result<DemoGateways, DemoError> {
    let actor = Actor::from(root);
    let (main, _, credential) = state.gateways.create(actor, "llm-gateway").await?;
    let (_, _, batch) = state.gateways.create(actor, "batch-runner").await?;
    Ok(DemoGateways { main: main.id, credential, batch })
}

impl DemoGateways {
    /// A second credential replaces the first one, which stays but is no longer used.
    pub(super) async fn renew_credential(&mut self, state: &AppState, root: &Caller) -> Result<(), DemoError> {
        state.authenticator.gateway(&self.credential, None).await?;
        self.credential = state.gateways.create_credential(Actor::from(root), self.main).await?.1;
        Ok(())
    }

    pub(super) async fn use_batch(&self, state: &AppState) -> Result<(), DemoError> {
        state.authenticator.gateway(&self.batch, None).await?;
        Ok(())
    }

    /// The last use of the main gateway, and a new one that was never used.
    pub(super) async fn finish(&self, state: &AppState, root: &Caller) -> Result<(), DemoError> {
        state.authenticator.gateway(&self.credential, None).await?;
        state.gateways.create(Actor::from(root), "staging").await?;
        Ok(())
    }
}

/// An access token in use, and one that was never used.
pub(super) async fn create_access_tokens(
    state: &AppState,
    ana: &Caller,
    end: UnixTime,
) -> Result<AccessTokenSecret, DemoError> {
    let until = |days| Some(Lifetime::Until(end.plus(days * DAY)));
    let (_, secret) = state.access_tokens.create(ana, "Deployment", until(60)).await?;
    state.access_tokens.create(ana, "Spreadsheet", until(6)).await?;
    Ok(secret)
}
