//! `keymeter prices …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::foreign_prices::{self, PriceListFormat, Selection};
use crate::output::{print_error, print_line};
use keymeter::domain::model_limits::ModelLimits;

#[derive(Debug, Subcommand)]
pub enum PricesCommand {
    /// Print the price list of another program as `[prices]` for the settings, and what is left out and why. Downloads
    /// nothing.
    Convert(Convert),
}

#[derive(Debug, Args)]
pub struct Convert {
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

pub fn run(command: PricesCommand) -> Result<(), String> {
    let PricesCommand::Convert(Convert { from, file, only, provider }) = command;
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
