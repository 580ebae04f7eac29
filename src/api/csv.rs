//! Answers as CSV (RFC 4180), for spreadsheets.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;

/// How a list is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv {
        /// Begins with a byte order mark, by which Excel knows that it is UTF-8.
        bom: bool,
    },
}

impl Format {
    /// Reads the parameter `format`; JSON if it is absent or empty.
    pub fn parse(text: Option<&str>) -> Result<Self, ApiError> {
        match text {
            None | Some("" | "json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv { bom: false }),
            Some("csv-bom") => Ok(Self::Csv { bom: true }),
            Some(_) => Err(ApiError::new(ErrorCode::InvalidFilter, "`format` must be `json` or `csv`")),
        }
    }
}

/// Bytes of an answer that are made at once.
const CHUNK: usize = 32 * 1024;

/// A table in UTF-8 with a header line, saved by browsers under `name`. Lines are made while the answer is read, so
/// that no answer is in memory a second time as text.
pub fn csv(name: &str, columns: &str, rows: impl Iterator<Item = Vec<String>> + Send + 'static, bom: bool) -> Response {
    let chunks = Chunks { next: format!("{}{}\r\n", if bom { "\u{feff}" } else { "" }, columns), rows };
    let mut response = Body::from_stream(stream::iter(chunks.map(Ok::<_, Infallible>))).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// The cells of a row: the members of `body` that have the names of the columns, or those of an object in it. A comma
/// separates the columns.
pub fn cells(columns: &str, body: &impl Serialize) -> Vec<String> {
    let text = serde_json::to_string(body).unwrap_or_default();
    let members: HashMap<&str, &RawValue> = serde_json::from_str(&text).unwrap_or_default();
    let objects = members.values().filter_map(|value| serde_json::from_str(value.get()).ok());
    let inner: HashMap<&str, &RawValue> = objects.flat_map(|object: HashMap<_, _>| object).collect();
    let cells = columns.split(',').map(|name| {
        let value = members.get(name).or_else(|| inner.get(name));
        value.map_or_else(String::new, |value| cell(value.get()))
    });
    cells.collect()
}

/// A value of JSON as text. Lists and objects stay as they are.
pub fn cell(json: &str) -> String {
    match json {
        "null" => String::new(),
        _ => serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()),
    }
}

/// Lines, about [`CHUNK`] bytes at a time.
struct Chunks<Rows> {
    /// The beginning of the next one.
    next: String,
    rows: Rows,
}

impl<Rows: Iterator<Item = Vec<String>>> Iterator for Chunks<Rows> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut text = std::mem::take(&mut self.next);
        while text.len() < CHUNK
            && let Some(cells) = self.rows.next()
        {
            push_line(&mut text, &cells);
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Adds a line with its line break.
pub fn push_line(text: &mut String, cells: &[String]) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_cell(text, cell);
    }
    text.push_str("\r\n");
}

/// Characters that begin a formula. Spreadsheets in some languages take the full-width ones for the others.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Adds a cell, in quotes if it needs them. Spreadsheets read a cell that begins with one of some characters as a
/// formula: `'` before it makes it text.
fn push_cell(text: &mut String, cell: &str) {
    let is_number = cell.parse().is_ok_and(f64::is_finite);
    let guard = if cell.starts_with(FORMULA) && !is_number { "'" } else { "" };
    if cell.contains(['"', ',', '\r', '\n']) {
        text.push('"');
        text.push_str(guard);
        text.push_str(&cell.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(guard);
        text.push_str(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be_and_are_never_formulas() {
        let rows = [
            ["plain", "with, comma"],
            ["with \"quotes\"", "two\r\nlines"],
            ["=1+1", "@x"],
            ["+x", "-x, y"],
            ["-7", "\tx"],
            ["+inf", "-nan"],
            ["＝1+1", "＋x"],
            ["－x", "＠x"],
        ];
        let mut text = String::new();
        for row in rows {
            push_line(&mut text, &row.map(str::to_owned));
        }
        let lines = [
            "plain,\"with, comma\"",
            "\"with \"\"quotes\"\"\",\"two\r\nlines\"",
            "'=1+1,'@x",
            "'+x,\"'-x, y\"",
            "-7,'\tx",
            "'+inf,'-nan",
            "'＝1+1,'＋x",
            "'－x,'＠x",
            "",
        ];
        assert_eq!(text, lines.join("\r\n"));
    }

    #[test]
    fn cells_are_the_members_of_a_body_and_of_the_objects_in_it() {
        let body = serde_json::json!({
            "a": "x \"y\"", "n": 7, "none": null, "list": ["b"], "object": { "inner": true, "a": "not this one" },
        });
        let columns = "n,a,none,absent,list,inner,object";
        let expected = ["7", "x \"y\"", "", "", "[\"b\"]", "true", "{\"a\":\"not this one\",\"inner\":true}"];
        assert_eq!(cells(columns, &body), expected);
    }

    #[test]
    fn lines_are_made_in_chunks_and_none_is_lost() {
        let line = |n: usize| vec![n.to_string(), "x".repeat(n % 100)];
        for rows in [0, 1, 10_000] {
            let chunks: Vec<String> = Chunks { next: "n,x\r\n".to_owned(), rows: (0..rows).map(line) }.collect();
            assert!(chunks.iter().all(|chunk| chunk.len() < CHUNK + 200), "{rows}");
            assert_eq!(chunks.len() > 1, rows == 10_000);
            let mut expected = "n,x\r\n".to_owned();
            (0..rows).for_each(|n| push_line(&mut expected, &line(n)));
            assert_eq!(chunks.concat(), expected);
        }
    }
}
