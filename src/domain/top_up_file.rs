//! A CSV file of top-ups, as spreadsheets write it (RFC 4180): `user,usd[,note]`, with or without a header line.

use std::ops::RangeInclusive;

use super::bulk_users::{ChoiceInvalid, ChosenUser, UserFault, UserPlace, UserRef, check_count, each_once};
use super::text;
use super::usd_cost::UsdCost;
use super::username::Username;

/// Reads the accounts of a file, each with the quota units that its dollars are. Blank lines are skipped.
///
/// # Errors
/// It has no line or too many, or one of them is wrong; then all wrong ones are named.
pub fn read(text: &str) -> Result<Vec<ChosenUser>, ChoiceInvalid> {
    let mut rows = rows(text);
    if rows.first().is_some_and(CsvRow::is_header) {
        rows.remove(0);
    }
    check_count("csv", rows.len())?;
    let (mut chosen, mut faults) = (Vec::new(), Vec::new());
    for row in &rows {
        match row.read() {
            Ok(user) => chosen.push(user),
            Err(fault) => faults.push((row.place(), fault)),
        }
    }
    each_once(chosen, faults)
}

/// A line of a file. A cell in quotes may go on over several lines of the text.
#[derive(Debug, Default)]
struct CsvRow {
    /// The line of the text on which it begins, counted from 1.
    line: usize,
    cells: Vec<CsvCell>,
    /// The cell that is being read.
    open: CsvCell,
    /// A quote stands where none may be, or is never closed.
    is_broken: bool,
}

#[derive(Debug, Default)]
struct CsvCell {
    text: String,
    is_quoted: bool,
}

/// Where a reader is in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum In {
    Plain,
    Quotes,
    /// Behind the closing quote.
    End,
}

fn rows(text: &str) -> Vec<CsvRow> {
    let (mut rows, mut line, mut place) = (Vec::new(), 1, In::Plain);
    let mut row = CsvRow::on(line);
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    while let Some(c) = chars.next() {
        match (place, c) {
            (In::Quotes, '"') if chars.next_if_eq(&'"').is_some() => row.open.text.push('"'),
            (In::Quotes, '"') => place = In::End,
            (In::Quotes, c) => {
                line += usize::from(c == '\n');
                row.open.text.push(c);
            }
            (In::Plain | In::End, ',') => {
                row.close_cell();
                place = In::Plain;
            }
            (In::Plain | In::End, '\n') => {
                line += 1;
                row.close_cell();
                rows.push(std::mem::replace(&mut row, CsvRow::on(line)));
                place = In::Plain;
            }
            (In::Plain, '"') if row.open.text.trim().is_empty() => {
                row.open = CsvCell { text: String::new(), is_quoted: true };
                place = In::Quotes;
            }
            (In::End, c) if c.is_whitespace() => {}
            (In::Plain, '"') | (In::End, _) => row.is_broken = true,
            // Also the `\r` at the end of a line, which is trimmed.
            (In::Plain, c) => row.open.text.push(c),
        }
    }
    row.is_broken |= place == In::Quotes;
    row.close_cell();
    rows.push(row);
    rows.retain(|row| !row.is_blank());
    rows
}

impl CsvRow {
    fn on(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    fn close_cell(&mut self) {
        let mut cell = std::mem::take(&mut self.open);
        if !cell.is_quoted {
            cell.text = String::from(cell.text.trim());
        }
        self.cells.push(cell);
    }

    fn is_blank(&self) -> bool {
        !self.is_broken && self.cells.iter().all(|cell| cell.text.is_empty())
    }

    /// `user,usd` or `username,usd`, and whatever the third column is called.
    fn is_header(&self) -> bool {
        let is = |at: usize, names: &[&str]| {
            self.cells.get(at).is_some_and(|cell| names.iter().any(|name| cell.text.eq_ignore_ascii_case(name)))
        };
        !self.is_broken && is(0, &["user", "username"]) && is(1, &["usd"])
    }

    fn place(&self) -> UserPlace {
        UserPlace::of_name(Some(self.line), self.cells.first().map_or("", |cell| cell.text.as_str()))
    }

    fn read(&self) -> Result<ChosenUser, UserFault> {
        let (name, usd, note) = match self.cells.as_slice() {
            [name, usd] => (name, usd, None),
            [name, usd, note] => (name, usd, Some(note)),
            _ => return Err(UserFault::Line),
        };
        if self.is_broken {
            return Err(UserFault::Line);
        }
        let user = UserRef::Name(Username::typed(&name.text)?);
        let add = usd.text.trim().parse::<UsdCost>()?.quota()?.get();
        if note.is_some_and(|note| is_rest_of_amount(usd, note)) {
            return Err(UserFault::DecimalComma);
        }
        let note = text::label("note", note.map_or("", |note| note.text.as_str()))?;
        Ok(ChosenUser { user, line: Some(self.line), add, note })
    }
}

/// Returns true for the cells of `12,50`, `1,500`, `1,500.00` and `1.500,00`, which would be 12 dollars, 1 dollar and
/// 1.50 dollars with a note.
fn is_rest_of_amount(usd: &CsvCell, note: &CsvCell) -> bool {
    let is_number = |text: &str, lengths: RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_rest = match (usd.text.split_once('.'), note.text.split_once('.')) {
        (None, None) => is_number(&note.text, 1..=3),
        (None, Some((thousands, cents))) => is_number(thousands, 3..=3) && is_number(cents, 0..=usize::MAX),
        (Some((_, thousands)), None) => is_number(thousands, 3..=3) && is_number(&note.text, 1..=2),
        (Some(_), Some(_)) => false,
    };
    is_rest && !note.is_quoted && !usd.is_quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::money::Quota;

    /// Name, quota units and note of each line.
    fn lines(text: &str) -> Vec<(String, i64, String)> {
        let name = |user: &UserRef| match user {
            UserRef::Name(name) => name.as_str().to_owned(),
            UserRef::Id(id) => id.to_string(),
        };
        read(text).unwrap().into_iter().map(|one| (name(&one.user), one.add, one.note)).collect()
    }

    fn line(name: &str, add: i64, note: &str) -> (String, i64, String) {
        (name.to_owned(), add, note.to_owned())
    }

    #[test]
    fn a_file_is_read_as_spreadsheets_write_it() {
        let both = [line("ana", 6_250_000, "March"), line("ben", 500_000, "")];
        for text in [
            "ana,12.50,March\nben,1",
            "user,usd,note\r\nana,12.50,March\r\nben,1,\r\n",
            "\u{feff}Username,USD\nana,12.50,March\n\n , ,\nben,1\n\n",
            " ana , 12.5 , March \n\"ben\",\"1\",\"\"",
            "\"ana\" ,\"12.50\", \"March\"\nben,1e0",
        ] {
            assert_eq!(lines(text), both, "{text:?}");
        }
        assert_eq!(lines("ana,0.000002,\"a, \"\"b\"\"\""), [line("ana", 1, "a, \"b\"")]);
        assert_eq!(lines("7,1000000000"), [line("7", 500_000_000_000_000, "")], "digits are a name");
        assert_eq!(
            lines("ana,12,\"50\"\nben,12.0,50\ncarla,12,ref 50"),
            [line("ana", 6_000_000, "50"), line("ben", 6_000_000, "50"), line("carla", 6_000_000, "ref 50"),]
        );
    }

    #[test]
    fn every_wrong_line_is_named() {
        let table = [
            ("ana", "line 1, `ana`: write the line as"),
            ("ana,1,x,y", "line 1, `ana`: write the line as"),
            ("ana,12,50", "line 1, `ana`: write the amount with a point, as in 12.50;"),
            ("ana,1,500", "line 1, `ana`: write the amount with a point, as in 12.50;"),
            ("ana,1,500.00", "line 1, `ana`: write the amount with a point, as in 12.50;"),
            ("ana,1.500,00", "line 1, `ana`: write the amount with a point, as in 12.50;"),
            ("\"ana,1", "line 1, `ana,1`: write the line as"),
            ("a\"na,1", "line 1, `ana`: write the line as"),
            ("\"ana\"x,1", "line 1, `ana`: write the line as"),
            ("ana,\"1\"2", "line 1, `ana`: write the line as"),
            ("ana,$1", "line 1, `ana`: `usd` must be a decimal number from 0 to 1000000000"),
            ("ana,-1", "line 1, `ana`: `usd` must be"),
            ("ana,", "line 1, `ana`: `usd` must be"),
            ("ana,1000000000.1", "line 1, `ana`: `usd` must be"),
            (",1", "line 1, ``: `username` must have"),
            ("a b,1", "line 1, `a b`: `username` must have"),
            ("user,usd\nana,1,\"two\nlines\"", "line 2, `ana`: `note` must have at most 100 characters"),
            ("ana,1\n\nben,2\nANA,3", "line 4, `ANA`: this user is named twice"),
            ("ana,1,\"a\n\nx\"\nben,x", "line 1, `ana`: `note` must have"),
        ];
        for (text, message) in table {
            let invalid = read(text).unwrap_err().to_string();
            assert!(invalid.starts_with(message), "{text:?}: {invalid}");
        }
        let ChoiceInvalid::Faults(faults) = read("ana,x\nben,1,\"a\nb\"\nBEN,2\ncarla,3\nCarla,4").unwrap_err() else {
            panic!("not a count")
        };
        let places: Vec<_> = faults.as_slice().iter().map(|(place, _)| place.line.unwrap()).collect();
        assert_eq!(places, [1, 2, 6]);
        assert!(faults.to_string().ends_with("; 2 more in `faults`"), "{faults}");
    }

    #[test]
    fn a_file_has_1_to_1000_lines() {
        for text in ["", "\n\n", "user,usd\n", "\u{feff}"] {
            assert_eq!(read(text), Err(ChoiceInvalid::Count("csv")), "{text:?}");
        }
        let many = |count: usize| (0..count).map(|n| format!("u{n},1\n")).collect::<Vec<_>>().concat();
        assert_eq!(read(&many(1_000)).unwrap().len(), 1_000);
        assert_eq!(read(&many(1_001)), Err(ChoiceInvalid::Count("csv")));
    }

    fn quoted(cell: &str) -> String {
        format!("\"{}\"", cell.replace('"', "\"\""))
    }

    proptest! {
        /// Whatever the names and notes are, and whether lines end as on Unix or as on Windows.
        #[test]
        fn a_written_file_is_read_back(
            users in prop::collection::btree_map(
                "[a-z0-9\"',;.-]{1,20}",
                (0..=1_000_000_000_i64, "[ -~ü]{0,40}"),
                1..20,
            ),
            end in prop::sample::select(vec!["\n", "\r\n"]),
        ) {
            let row = |(name, (units, note)): (&String, &(i64, String))| {
                let usd = Quota::grant(*units).unwrap().usd();
                format!("{},{usd},{}{end}", quoted(name), quoted(note))
            };
            let text: String = users.iter().map(row).collect();
            let expected: Vec<_> =
                users.iter().map(|(name, (units, note))| line(name, *units, note.trim())).collect();
            prop_assert_eq!(lines(&text), expected);
        }

        #[test]
        fn no_text_panics(text in "[a,\"\\n\\r\u{feff} 1.é]{0,60}") {
            let _ = read(&text);
        }
    }
}
