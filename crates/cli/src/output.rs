//! What commands print for the operator.

use std::io::{ErrorKind, Write};

/// Prints a line to standard output. A closed pipe is no error, as in `keymeter doctor | head`. Any other error ends
/// the program: the line may be a secret that is shown only once.
pub fn print_line(line: &str) {
    print_while_read(line);
}

/// Prints what a check found to be right.
pub fn print_good(what: &str, finding: &str) {
    print_line(&format!("ok     {what}: {finding}"));
}

/// Prints what a check found that is no error, and what to do about it.
pub fn print_note(what: &str, finding: &str) {
    print_line(&format!("note   {what}: {finding}"));
}

/// The same as [`print_line`] for a command that prints until it is stopped. Returns false if nobody reads any more.
pub fn print_while_read(line: &str) -> bool {
    ended_while_read(writeln!(std::io::stdout(), "{line}"))
}

#[expect(clippy::exit, reason = "the caller would have to pass the error on from everywhere")]
fn ended_while_read(written: std::io::Result<()>) -> bool {
    match written {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => false,
        Err(error) => {
            print_error(&format!("cannot write to standard output: {error}"));
            std::process::exit(1);
        }
    }
}

/// Prints what a server answered as it is, with a line break at its end.
pub fn print_answer(body: &[u8]) {
    let is_complete = body.is_empty() || body.ends_with(b"\n");
    let end: &[u8] = if is_complete { b"" } else { b"\n" };
    let mut stdout = std::io::stdout();
    ended_while_read(stdout.write_all(body).and_then(|()| stdout.write_all(end)).and_then(|()| stdout.flush()));
}

/// Prints a sentence to standard error.
#[expect(clippy::print_stderr, reason = "errors of a command go to standard error")]
pub fn print_error(message: &str) {
    eprintln!("keymeter: {message}");
}
