//! `keymeter prices …`

use std::fmt::Display;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::failure::CommandFailure;
use crate::new_api_prices;
use crate::output::{print_error, print_line};
use crate::remote::Remote;
use crate::remote::list_options::ListOptions;
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
    /// Print what a list would change, and set nothing.
    Diff {
        /// Files, or https URLs.
        #[arg(required_unless_present = "version", value_name = "FILE|URL")]
        sources: Vec<String>,
        /// The list of a former version, as `history` numbers it.
        #[arg(long, value_parser = crate::remote::values::id_arg)]
        version: Option<i64>,
    },
    /// Print what a request would cost, and from which rates.
    #[command(after_help = "Example:
  keymeter prices cost gpt-5.5 --input-tokens 12000 --output-tokens 800 --unit web_searches=2")]
    Cost(PricedRequest),
    /// List the versions of the price list.
    History(ListOptions),
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

/// A request that nobody makes.
#[derive(Debug, Args)]
pub struct PricedRequest {
    /// The model.
    pub model: String,
    /// All input tokens, those of a cache included.
    #[arg(long, value_name = "NUMBER")]
    pub input_tokens: Option<String>,
    /// All output tokens.
    #[arg(long, value_name = "NUMBER")]
    pub output_tokens: Option<String>,
    /// Of the input tokens, those that are read from the provider's cache.
    #[arg(long, value_name = "NUMBER")]
    pub cache_read_tokens: Option<String>,
    /// Of the input tokens, those that are written to the provider's cache.
    #[arg(long, value_name = "NUMBER")]
    pub cache_write_tokens: Option<String>,
    /// Any other unit, such as `web_searches=2`. May be given several times.
    #[arg(long = "unit", value_name = "UNIT=NUMBER", value_parser = pair)]
    pub units: Vec<(String, String)>,
    /// What the price depends on besides the model, such as `service_tier=priority`. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub context: Vec<(String, String)>,
    /// Whose price of the model counts, if the list has several.
    #[arg(long, value_name = "PROVIDER")]
    pub provider: Option<String>,
    /// The group whose ratio counts; yours by default.
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it must be a name, `=` and a value")?;
    Ok((name.to_owned(), value.to_owned()))
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
        PricesCommand::Diff { sources, version } => remote()?.compare_prices(&sources, version),
        PricesCommand::Cost(request) => remote()?.show_cost(&request),
        PricesCommand::History(options) => remote()?.list_price_versions(&options),
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
