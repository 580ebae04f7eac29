//! What people read: tables, amounts and times. And what they type: passwords.

use std::io::{IsTerminal, Read, stdin};

use chrono::DateTime;
use secrecy::SecretString;
use unicode_width::UnicodeWidthStr;
use zeroize::Zeroizing;

use crate::failure::{CommandFailure, exit};
use crate::output::{print_error, print_line};
use keymeter::domain::money::Quota;

/// A table with plain columns, separated by two spaces.
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Which columns line up at their right.
    at_right: Vec<bool>,
}

impl Table {
    pub fn new(columns: &[&str]) -> Self {
        let titles = columns.iter().map(|&name| name.to_owned()).collect();
        Self { rows: vec![titles], at_right: vec![false; columns.len()] }
    }

    /// The same with columns of amounts or counts, which line up at their right.
    pub fn with_amounts(columns: &[&str], amounts: &[&str]) -> Self {
        Self { at_right: columns.iter().map(|title| amounts.contains(title)).collect(), ..Self::new(columns) }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// Prints it; if it has no row, says on standard error what there are none of.
    pub fn print(&self, things: &str) {
        if self.rows.len() == 1 {
            print_error(&format!("no {things}"));
        } else {
            self.lines().iter().for_each(|line| print_line(line));
        }
    }

    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for ((cell, width), at_right) in row.iter().zip(&widths).zip(&self.at_right) {
                let padding = " ".repeat(width - cell.width());
                let (before, after) = if *at_right { (padding.as_str(), "") } else { ("", padding.as_str()) };
                line.extend([before, cell, after, "  "]);
            }
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// Prints one fact a line.
pub fn print_facts(facts: &[(&str, String)]) {
    for line in lines_of_facts(facts) {
        print_line(&line);
    }
}

/// One fact a line.
pub fn lines_of_facts(facts: &[(&str, String)]) -> Vec<String> {
    let width = facts.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| {
        let padding = " ".repeat(width - name.width());
        format!("{name}{padding}  {}", printable(value)).trim_end().to_owned()
    };
    facts.iter().map(line).collect()
}

/// The text without what would control the terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Quota units and dollars: `500000 ($1)`.
pub fn quota(units: i64) -> String {
    let (sign, amount) = signed(units);
    format!("{units} ({sign}${amount})")
}

/// The dollars of quota units, exact, with two decimals or more: `$5.00`, `$0.000002`.
pub fn dollars(units: i64) -> String {
    let (sign, amount) = signed(units);
    let zeros = match amount.split_once('.').map_or(0, |(_, decimals)| decimals.len()) {
        0 => ".00",
        1 => "0",
        _ => "",
    };
    format!("{sign}${amount}{zeros}")
}

/// The sign and the dollars of quota units. A wallet is never negative, but a correction is.
fn signed(units: i64) -> (&'static str, String) {
    let dollars = Quota::ZERO.changed_by(units.saturating_abs()).unwrap_or_default().usd();
    (if units < 0 { "-" } else { "" }, dollars.to_string())
}

/// A point in time: `2026-03-10 12:00 UTC`.
pub fn time(seconds: i64) -> String {
    formatted(seconds, "%Y-%m-%d %H:%M UTC")
}

/// The same with seconds.
pub fn time_of_day(seconds: i64) -> String {
    formatted(seconds, "%Y-%m-%d %H:%M:%S UTC")
}

fn formatted(seconds: i64, format: &str) -> String {
    DateTime::from_timestamp(seconds, 0).map_or_else(|| seconds.to_string(), |time| time.format(format).to_string())
}

/// The text of a file; `-` is standard input.
pub fn text_from(file: &str) -> Result<String, CommandFailure> {
    let mut text = String::new();
    let read =
        if file == "-" { stdin().read_to_string(&mut text).map(|_| text) } else { std::fs::read_to_string(file) };
    read.map_err(|error| CommandFailure::new(exit::USAGE, format!("cannot read {file}: {error}")))
}

/// Reads a secret from standard input: all of it, without the line break at its end.
pub fn secret_from_stdin(what: &str) -> Result<SecretString, CommandFailure> {
    let mut text = Zeroizing::new(String::new());
    let unread = |error| CommandFailure::from(format!("cannot read the {what} from standard input: {error}"));
    stdin().read_to_string(&mut text).map_err(unread)?;
    let secret = text.trim_end_matches(['\r', '\n']);
    if secret.is_empty() {
        return Err(CommandFailure::new(exit::USAGE, format!("standard input is empty; it must have the {what}")));
    }
    Ok(secret.into())
}

/// Asks for a secret on the terminal, without showing it.
pub fn ask_secret(question: &str, otherwise: &str) -> Result<SecretString, CommandFailure> {
    let answer = rpassword::prompt_password(format!("{question}: "));
    let answer = Zeroizing::new(answer.map_err(|_| no_terminal(question, otherwise))?);
    Ok(answer.as_str().into())
}

/// Asks for a line on the terminal.
#[expect(clippy::print_stderr, reason = "a question on the same line as its answer")]
pub fn ask(question: &str, otherwise: &str) -> Result<String, CommandFailure> {
    if !stdin().is_terminal() {
        return Err(no_terminal(question, otherwise));
    }
    eprint!("{question}: ");
    let mut line = String::new();
    stdin().read_line(&mut line).map_err(|error| format!("cannot read the answer: {error}"))?;
    Ok(line.trim().to_owned())
}

/// Asks whether to do what cannot be undone.
pub fn confirm(what: &str, yes: bool) -> Result<(), CommandFailure> {
    if yes {
        return Ok(());
    }
    match ask(&format!("{what}? [y/N]"), "--yes")?.as_str() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err("nothing was done".to_owned().into()),
    }
}

fn no_terminal(question: &str, otherwise: &str) -> CommandFailure {
    CommandFailure::new(exit::USAGE, format!("there is no terminal to ask \"{question}\"; use {otherwise}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_in_every_script() {
        let mut table = Table::new(&["ID", "NAME", "STATE"]);
        table.row(vec!["7".into(), "ci".into(), "working".into()]);
        table.row(vec!["12".into(), "密钥".into(), "used_up".into()]);
        assert_eq!(table.lines(), ["ID  NAME  STATE", "7   ci    working", "12  密钥  used_up"]);
    }

    #[test]
    fn amounts_line_up_at_their_right() {
        let mut table = Table::with_amounts(&["NAME", "LEFT", "STATE"], &["LEFT"]);
        table.row(vec!["ci".into(), "$5.00".into(), "working".into()]);
        table.row(vec!["batch".into(), "$1250.00".into(), String::new()]);
        assert_eq!(table.lines(), ["NAME       LEFT  STATE", "ci        $5.00  working", "batch  $1250.00"]);
    }

    #[test]
    fn text_of_the_server_cannot_control_the_terminal() {
        let mut table = Table::new(&["NAME"]);
        table.row(vec!["a\u{1b}[2Jb\nc".into()]);
        assert_eq!(table.lines(), ["NAME", "a [2Jb c"]);
    }

    #[test]
    fn amounts_are_units_and_exact_dollars() {
        let table = [(0, "0 ($0)"), (1, "1 ($0.000002)"), (750_000, "750000 ($1.5)"), (-500_000, "-500000 (-$1)")];
        for (units, text) in table {
            assert_eq!(quota(units), text);
        }
    }

    #[test]
    fn dollars_have_two_decimals_or_more() {
        let table = [(0, "$0.00"), (1, "$0.000002"), (750_000, "$1.50"), (-500_000, "-$1.00"), (6_172_500, "$12.345")];
        for (units, text) in table {
            assert_eq!(dollars(units), text);
        }
    }

    #[test]
    fn times_are_utc() {
        assert_eq!(time(1_773_144_000), "2026-03-10 12:00 UTC");
    }
}
