//! The binary: parses the command line, runs, and gives the exit code.

fn main() -> std::process::ExitCode {
    keymeter::cli::run()
}
