//! What commands print for the operator.

use std::io::{ErrorKind, Write};

/// Prints a line to standard output. Nobody may read it any more, as in `keymeter doctor | head`.
pub fn print_line(line: &str) {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            print_error(&format!("cannot write to standard output: {error}"));
        }
        _ => {}
    }
}

/// Prints a sentence to standard error.
#[expect(clippy::print_stderr, reason = "errors of a command go to standard error")]
pub fn print_error(message: &str) {
    eprintln!("keymeter: {message}");
}
