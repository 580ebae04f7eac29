//! `keymeter prices …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::failure::CommandFailure;
use crate::foreign_prices::{self, PriceListFormat, Selection};
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
    /// Print the price list of another program as `[prices]` for the settings, and what is left out and why. Downloads
    /// nothing.
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
    /// Where the list comes from: `model_prices_and_context_window.json` of `LiteLLM`, `api.json` of models.dev, or the
    /// ratio options of new-api as JSON.
    #[arg(long, value_name = "FORMAT")]
    from: From,
    /// The list.
    file: PathBuf,
    /// Only these models, separated by commas; a `*` at the end stands for any.
    #[arg(long, value_name = "MODELS", value_parser = models)]
    only: Option<ModelLimits>,
    /// Only models of this provider, as the list names it.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum From {
    Litellm,
    ModelsDev,
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

fn convert(Convert { from, file, only, provider }: Convert) -> Result<(), String> {
    let text = std::fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let format = match from {
        From::Litellm => PriceListFormat::LiteLlm,
        From::ModelsDev => PriceListFormat::ModelsDev,
        From::NewApi => PriceListFormat::NewApi,
    };
    let converted = foreign_prices::convert(format, &text, &Selection { only, provider });
    let converted = converted.map_err(|error| format!("cannot convert {}: {error}", file.display()))?;
    print_line(converted.settings().trim_end());
    let (prices, left_out) = converted.counts();
    print_error(&format!("{prices} prices; {left_out} models are left out, with the reason at the end"));
    Ok(())
}
