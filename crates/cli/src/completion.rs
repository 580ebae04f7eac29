//! `keymeter completion` and `keymeter man`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use clap::{Command, ValueEnum};

use super::failure::CommandFailure;

/// Where the scripts belong.
pub const HELP: &str = "Examples:
  keymeter completion bash > ~/.local/share/bash-completion/completions/keymeter
  keymeter completion zsh > \"${fpath[1]}/_keymeter\"
  keymeter completion fish > ~/.config/fish/completions/keymeter.fish";

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl From<Shell> for clap_complete::Shell {
    fn from(shell: Shell) -> Self {
        match shell {
            Shell::Bash => Self::Bash,
            Shell::Zsh => Self::Zsh,
            Shell::Fish => Self::Fish,
        }
    }
}

/// Prints the script.
pub fn print(shell: Shell, mut command: Command) -> Result<(), CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::from(shell), &mut command, "keymeter", &mut script);
    match std::io::stdout().write_all(&script) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Writes a manual page for each command.
pub fn write_manual(command: Command, directory: &Path) -> Result<(), CommandFailure> {
    let written = fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(command, directory));
    written.map_err(|error| format!("cannot write manual pages into {}: {error}", directory.display()).into())
}
