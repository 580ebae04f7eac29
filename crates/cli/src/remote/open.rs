//! `keymeter open …`: pages of the dashboard.

use std::env;
use std::io::{IsTerminal, stdout};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use serde_json::json;

use super::Remote;
use super::named::{Named, OWN_KEYS};
use super::target::RemoteOptions;
use crate::failure::CommandFailure;
use crate::output::print_line;

/// `keymeter open`
#[derive(Debug, Args)]
pub struct OpenArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: OpenCommand,
}

#[derive(Debug, Subcommand)]
enum OpenCommand {
    /// Print the address of a key's page, and open it in a browser if standard output is a terminal.
    #[command(after_help = "Example:
  keymeter open key ci")]
    Key {
        /// The key's name or id.
        key: Named,
    },
}

pub fn run(args: OpenArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    let OpenCommand::Key { key } = args.command;
    let id = remote.find(&OWN_KEYS, &key)?.id;
    let url = format!("{}/keys/{id}", remote.client.address());
    if remote.json {
        print_line(&json!({ "url": url }).to_string());
    } else {
        print_line(&url);
        if stdout().is_terminal() {
            open(&url);
        }
    }
    Ok(())
}

/// Opens a page in a browser where there is one. Without one, the printed address is enough.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some()) {
        "xdg-open"
    } else {
        return;
    };
    let mut command = Command::new(program);
    let _ = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
