//! `keymeter gateway …`

use clap::{Args, Subcommand};

use super::failure::CommandFailure;
use super::remote::target::PlaceOptions;
use super::remote::terminal::confirm;
use super::remote::values::id_arg;
use super::with_app;
use crate::output::print_line;
use keymeter::config::Config;
use keymeter::domain::audit::Actor;
use keymeter::domain::gateway::GatewayCredential;
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
    /// Create a gateway and print its first credential. The credential is shown only this once.
    #[command(after_help = "Examples:
  keymeter gateway create edge
  keymeter gateway create edge --server https://keys.example.org --json | jq -r .credential
  keymeter gateway create edge --local")]
    Create {
        /// A name that identifies the machine or service.
        name: String,
    },
    /// List gateways and their credentials, without the secrets.
    List,
    /// Revoke a gateway and all its credentials.
    Revoke {
        /// The gateway's id.
        #[arg(value_parser = id_arg)]
        id: i64,
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
    /// Create another credential of a gateway and print it. It is shown only this once.
    Create {
        /// The gateway's id.
        #[arg(value_parser = id_arg)]
        gateway: i64,
    },
    /// Revoke a credential. The other credentials of the gateway stay valid.
    Revoke {
        /// The gateway's id.
        #[arg(value_parser = id_arg)]
        gateway: i64,
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
            Self::Revoke { id, yes } => confirm(&format!("revoke the gateway {id}; it stops working at once"), *yes),
            Self::Credential(CredentialCommand::Revoke { gateway, id, yes }) => {
                confirm(&format!("revoke the credential {id} of the gateway {gateway}; it stops working at once"), *yes)
            }
            Self::Create { .. } | Self::List | Self::Credential(CredentialCommand::Create { .. }) => Ok(()),
        }
    }
}

/// Runs the command on the server that is named.
pub fn run_remote(args: GatewayArgs) -> Result<(), CommandFailure> {
    args.command.confirm()?;
    let remote = args.place.connect()?;
    match args.command {
        GatewayCommand::Create { name } => remote.create_gateway(&name),
        GatewayCommand::List => remote.list_gateways(),
        GatewayCommand::Revoke { id, .. } => remote.revoke_gateway(id),
        GatewayCommand::Credential(CredentialCommand::Create { gateway }) => remote.create_credential(gateway),
        GatewayCommand::Credential(CredentialCommand::Revoke { gateway, id, .. }) => {
            remote.revoke_credential(gateway, id)
        }
    }
}

/// Runs the command on the local database.
pub async fn run(config: &Config, args: GatewayArgs) -> Result<(), CommandFailure> {
    args.command.confirm()?;
    with_app(config, async |app| {
        let gateways = &app.state.gateways;
        match args.command {
            GatewayCommand::Create { name } => create(gateways, &name).await,
            GatewayCommand::List => list(gateways).await,
            GatewayCommand::Revoke { id, .. } => {
                let revoked = gateways.revoke(Actor::Operator, GatewayId::new(id)).await;
                revoked.map_err(CommandFailure::refused)?;
                print_line(&format!("revoked the gateway {id}"));
                Ok(())
            }
            GatewayCommand::Credential(CredentialCommand::Create { gateway }) => {
                create_credential(gateways, GatewayId::new(gateway)).await
            }
            GatewayCommand::Credential(CredentialCommand::Revoke { gateway, id, .. }) => {
                let (gateway_id, credential_id) = (GatewayId::new(gateway), GatewayCredentialId::new(id));
                let revoked = gateways.revoke_credential(Actor::Operator, gateway_id, credential_id).await;
                revoked.map_err(CommandFailure::refused)?;
                print_line(&format!("revoked the credential {id} of the gateway {gateway}"));
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
    print_line(&format!("created the gateway {id}; its credential, shown only this once: {secret}"));
    Ok(())
}

async fn create_credential(gateways: &Gateways, gateway: GatewayId) -> Result<(), CommandFailure> {
    let created = gateways.create_credential(Actor::Operator, gateway).await;
    let (credential, secret) = created.map_err(CommandFailure::refused)?;
    let (id, secret) = (credential.id, secret.expose());
    print_line(&format!("created the credential {id} of the gateway {gateway}, shown only this once: {secret}"));
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
