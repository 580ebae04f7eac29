//! `keymeter gateway …`

use clap::{Args, Subcommand};

use super::failure::{CommandFailure, exit};
use super::remote::list_options::ListOptions;
use super::remote::named::{Candidate, Found, GATEWAYS, Named};
use super::remote::target::{NEEDS_SERVER, PlaceOptions};
use super::remote::terminal::confirm;
use super::remote::values::id_arg;
use super::with_app;
use crate::output::{print_error, print_line};
use keymeter::config::Config;
use keymeter::domain::audit::Actor;
use keymeter::domain::gateway::{Gateway, GatewayCredential};
use keymeter::domain::id::{GatewayCredentialId, GatewayId};
use keymeter::domain::text;
use keymeter::service::gateways::Gateways;

/// `keymeter gateway`
#[derive(Debug, Args)]
pub struct GatewayArgs {
    #[command(flatten)]
    pub place: PlaceOptions,
    #[command(subcommand)]
    command: GatewayCommand,
}

#[derive(Debug, Subcommand)]
enum GatewayCommand {
    /// Create a gateway. Standard output is its first credential and nothing else; it is shown only this once.
    #[command(after_help = "Examples:
  keymeter gateway create edge > credential.txt
  keymeter gateway create edge --server https://keys.example.org --json | jq -r .credential
  keymeter gateway create edge --local")]
    Create {
        /// A name that identifies the machine or service.
        name: String,
    },
    /// List gateways and their credentials, without the secrets.
    List(ListOptions),
    /// Revoke a gateway and all its credentials.
    Revoke {
        /// The gateway's name or id.
        gateway: Named,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Create and revoke credentials, to replace one without downtime.
    #[command(subcommand)]
    Credential(CredentialCommand),
}

#[derive(Debug, Subcommand)]
enum CredentialCommand {
    /// Create another credential of a gateway. Standard output is the credential and nothing else; it is shown only
    /// once.
    Create {
        /// The gateway's name or id.
        gateway: Named,
    },
    /// Revoke a credential. The other credentials of the gateway stay valid.
    Revoke {
        /// The gateway's name or id.
        gateway: Named,
        /// The credential's id.
        #[arg(value_parser = id_arg)]
        id: i64,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

impl GatewayCommand {
    /// Asks before what cannot be undone.
    fn confirm(&self) -> Result<(), CommandFailure> {
        match self {
            Self::Revoke { gateway, yes } => {
                confirm(&format!("revoke the gateway {gateway}; it stops working at once"), *yes)
            }
            Self::Credential(CredentialCommand::Revoke { gateway, id, yes }) => {
                confirm(&format!("revoke the credential {id} of the gateway {gateway}; it stops working at once"), *yes)
            }
            Self::Create { .. } | Self::List(_) | Self::Credential(CredentialCommand::Create { .. }) => Ok(()),
        }
    }
}

/// Runs the command on the server that is named.
pub fn run_remote(args: GatewayArgs) -> Result<(), CommandFailure> {
    args.command.confirm()?;
    let remote = args.place.connect()?;
    match args.command {
        GatewayCommand::Create { name } => remote.create_gateway(&name),
        GatewayCommand::List(options) => remote.list_gateways(&options),
        GatewayCommand::Revoke { gateway, .. } => remote.revoke_gateway(&gateway),
        GatewayCommand::Credential(CredentialCommand::Create { gateway }) => remote.create_credential(&gateway),
        GatewayCommand::Credential(CredentialCommand::Revoke { gateway, id, .. }) => {
            remote.revoke_credential(&gateway, id)
        }
    }
}

/// Runs the command on the local database.
pub async fn run(config: &Config, args: GatewayArgs) -> Result<(), CommandFailure> {
    args.command.confirm()?;
    if let GatewayCommand::List(options) = &args.command
        && options.are_given()
    {
        return Err(CommandFailure::new(exit::USAGE, NEEDS_SERVER));
    }
    with_app(config, async |app| {
        let gateways = &app.state.gateways;
        match args.command {
            GatewayCommand::Create { name } => create(gateways, &name).await,
            GatewayCommand::List(_) => list(gateways).await,
            GatewayCommand::Revoke { gateway, .. } => {
                let found = find(gateways, &gateway).await?;
                let revoked = gateways.revoke(Actor::Operator, GatewayId::new(found.id)).await;
                revoked.map_err(CommandFailure::refused)?;
                print_error(&format!("revoked the gateway {found}"));
                Ok(())
            }
            GatewayCommand::Credential(CredentialCommand::Create { gateway }) => {
                create_credential(gateways, &find(gateways, &gateway).await?).await
            }
            GatewayCommand::Credential(CredentialCommand::Revoke { gateway, id, .. }) => {
                let found = find(gateways, &gateway).await?;
                let (gateway_id, credential_id) = (GatewayId::new(found.id), GatewayCredentialId::new(id));
                let revoked = gateways.revoke_credential(Actor::Operator, gateway_id, credential_id).await;
                revoked.map_err(CommandFailure::refused)?;
                print_error(&format!("revoked the credential {id} of the gateway {found}"));
                Ok(())
            }
        }
    })
    .await
}

async fn create(gateways: &Gateways, name: &str) -> Result<(), CommandFailure> {
    let name = text::label("name", name).and_then(|name| text::required("name", name));
    let name = name.map_err(CommandFailure::refused)?;
    let created = gateways.create(Actor::Operator, &name).await;
    let (gateway, _, secret) = created.map_err(CommandFailure::refused)?;
    let (id, secret) = (gateway.id, secret.expose());
    print_error(&format!("created the gateway {id}; its credential is shown only this once"));
    print_line(secret);
    Ok(())
}

/// The gateway of the local database that an argument names.
async fn find(gateways: &Gateways, named: &Named) -> Result<Found, CommandFailure> {
    if let Some(found) = named.by_id() {
        return Ok(found);
    }
    let all = gateways.list().await.map_err(CommandFailure::refused)?;
    let candidate =
        |(gateway, _): (Gateway, _)| Candidate { id: gateway.id.get(), name: gateway.name, details: String::new() };
    GATEWAYS.only(named, all.into_iter().map(candidate).collect())
}

async fn create_credential(gateways: &Gateways, gateway: &Found) -> Result<(), CommandFailure> {
    let created = gateways.create_credential(Actor::Operator, GatewayId::new(gateway.id)).await;
    let (credential, secret) = created.map_err(CommandFailure::refused)?;
    let (id, secret) = (credential.id, secret.expose());
    print_error(&format!("created the credential {id} of the gateway {gateway}; it is shown only this once"));
    print_line(secret);
    Ok(())
}

async fn list(gateways: &Gateways) -> Result<(), CommandFailure> {
    for (gateway, credentials) in gateways.list().await.map_err(CommandFailure::refused)? {
        print_line(&format!("{}\t{}\tcreated at {}", gateway.id, gateway.name, gateway.created_time.get()));
        for credential in credentials {
            print_line(&credential_line(&credential));
        }
    }
    Ok(())
}

fn credential_line(credential: &GatewayCredential) -> String {
    let used =
        credential.last_used_time.map_or_else(|| "never used".to_owned(), |at| format!("last used at {}", at.get()));
    let (id, hint, created) = (credential.id, &credential.hint, credential.created_time.get());
    format!("\tcredential {id}\t…{hint}\tcreated at {created}\t{used}")
}
