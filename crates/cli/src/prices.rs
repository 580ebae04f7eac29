//! `keymeter prices …`

use std::fmt::Display;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::failure::CommandFailure;
use crate::new_api_prices;
use crate::output::{print_error, print_line};
use crate::remote::Remote;
use crate::remote::target::RemoteOptions;
use keymeter::domain::model_limits::ModelLimits;

/// `keymeter prices`
#[derive(Debug, Args)]
pub struct PricesArgs {
    #[command(flatten)]
    remote: RemoteOptions,
    #[command(subcommand)]
    command: PricesCommand,
}

#[derive(Debug, Subcommand)]
enum PricesCommand {
    /// Set the price list of a server: your own file of prices, the data of providers that genai-prices publishes, or
    /// both. What is left out stays as it is.
    #[command(after_help = "Examples:
  keymeter prices set prices.json
  keymeter prices set https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json")]
    Set {
        /// Files, or https URLs.
        #[arg(required = true, value_name = "FILE|URL")]
        sources: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Print your own file of prices, as it is in force.
    Show,
    /// List the versions of the price list.
    History,
    /// Set a former version again.
    Rollback {
        /// The number of the version, as `history` lists it.
        #[arg(value_parser = crate::remote::values::id_arg)]
        version: i64,
        #[command(flatten)]
        how: How,
    },
    /// Print the prices of another program as a file of prices, and what is left out and why. Downloads nothing.
    Convert(Convert),
}

/// How a list is set.
#[derive(Debug, Args)]
struct How {
    /// Why, for the history.
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Also if rates move beyond half or double, or a model that was charged in the last 30 days has no price any more.
    #[arg(long)]
    accept: bool,
}

#[derive(Debug, Args)]
struct Convert {
    /// Where the list comes from: the ratio options of new-api or one-api as JSON, or its answer of
    /// `/api/ratio_config`.
    #[arg(long, value_name = "FORMAT")]
    from: From,
    /// The list.
    file: PathBuf,
    /// Only these models, separated by commas; a `*` at the end stands for any.
    #[arg(long, value_name = "MODELS", value_parser = models)]
    only: Option<ModelLimits>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum From {
    #[value(alias = "one-api")]
    NewApi,
}

fn models(text: &str) -> Result<ModelLimits, String> {
    ModelLimits::parse(text).map_err(|error| error.to_string().replace("`model_limits`", "it"))
}

pub fn run(args: PricesArgs) -> Result<(), CommandFailure> {
    let remote = || Remote::connect(&args.remote);
    match args.command {
        PricesCommand::Set { sources, how } => remote()?.set_prices(&sources, &how.note, how.accept),
        PricesCommand::Show => remote()?.show_prices(),
        PricesCommand::History => remote()?.list_price_versions(),
        PricesCommand::Rollback { version, how } => remote()?.roll_back_prices(version, &how.note, how.accept),
        PricesCommand::Convert(list) => Ok(convert(list)?),
    }
}

fn convert(Convert { from: From::NewApi, file, only }: Convert) -> Result<(), String> {
    let text = std::fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let failed = |error: &dyn Display| format!("cannot convert {}: {error}", file.display());
    let converted = new_api_prices::convert(&text, only.as_ref()).map_err(|error| failed(&error))?;
    print_line(&converted.file().map_err(|error| failed(&error))?);
    converted.notes().iter().for_each(|note| print_error(note));
    Ok(())
}
