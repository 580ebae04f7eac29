//! Answers as CSV (RFC 4180), for spreadsheets.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use super::api_error::ApiError;
use super::error_code::ErrorCode;

/// How a list is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
}

impl Format {
    /// Reads the parameter `format`; JSON if it is absent or empty.
    pub fn parse(text: Option<&str>) -> Result<Self, ApiError> {
        match text {
            None | Some("" | "json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some(_) => Err(ApiError::new(ErrorCode::InvalidFilter, "`format` must be `json` or `csv`")),
        }
    }
}

/// A table in UTF-8, with a header line.
#[derive(Debug)]
pub struct Csv {
    name: &'static str,
    text: String,
}

impl Csv {
    /// A table with these columns, saved by browsers under `name`.
    #[must_use]
    pub fn new(name: &'static str, columns: &[&str]) -> Self {
        Self { name, text: columns.join(",") + "\r\n" }
    }

    /// Adds a line.
    pub fn push(&mut self, cells: &[impl AsRef<str>]) {
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            push_cell(&mut self.text, cell.as_ref());
        }
        self.text.push_str("\r\n");
    }
}

/// Adds a cell, in quotes if it needs them. Spreadsheets read a cell that begins with one of some characters as a
/// formula: `'` before it makes it text.
fn push_cell(text: &mut String, cell: &str) {
    let is_number = cell.parse::<f64>().is_ok();
    let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number { "'" } else { "" };
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

impl IntoResponse for Csv {
    fn into_response(self) -> Response {
        let mut response = self.text.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
        if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", self.name)) {
            headers.insert(header::CONTENT_DISPOSITION, disposition);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be_and_are_never_formulas() {
        let mut csv = Csv::new("x.csv", &["a", "b"]);
        csv.push(&["plain", "with, comma"]);
        csv.push(&["with \"quotes\"", "two\r\nlines"]);
        csv.push(&["=1+1", "@x"]);
        csv.push(&["+x", "-x, y"]);
        csv.push(&["-7", "\tx"]);
        let lines = [
            "a,b",
            "plain,\"with, comma\"",
            "\"with \"\"quotes\"\"\",\"two\r\nlines\"",
            "'=1+1,'@x",
            "'+x,\"'-x, y\"",
            "-7,'\tx",
            "",
        ];
        assert_eq!(csv.text, lines.join("\r\n"));
    }
}
