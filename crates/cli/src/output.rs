//! What commands print for the operator.

use std::io::{ErrorKind, Write};

/// Prints a line to standard output. A closed pipe is no error, as in `keymeter doctor | head`. Any other error ends
/// the program: the line may be a secret that is shown only once.
pub fn print_line(line: &str) {
    print_while_read(line);
}

/// The same for a command that prints until it is stopped. Returns false if nobody reads any more.
#[expect(clippy::exit, reason = "the caller would have to pass the error on from everywhere")]
pub fn print_while_read(line: &str) -> bool {
    match writeln!(std::io::stdout(), "{line}") {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => false,
        Err(error) => {
            print_error(&format!("cannot write to standard output: {error}"));
            std::process::exit(1);
        }
    }
}

/// Prints a sentence to standard error.
#[expect(clippy::print_stderr, reason = "errors of a command go to standard error")]
pub fn print_error(message: &str) {
    eprintln!("keymeter: {message}");
}
