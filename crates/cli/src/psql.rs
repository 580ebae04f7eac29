//! `keymeter psql`

use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};

use super::failure::CommandFailure;
use keymeter::app::{self, Database, StopSignals, Use};
use keymeter::config::Config;

/// Opens the private PostgreSQL in `psql`, and returns its exit code.
pub async fn run(config: &Config, arguments: Vec<OsString>) -> Result<ExitCode, CommandFailure> {
    app::require_data(config)?;
    // They are for psql: this process ends when psql does.
    let _signals = StopSignals::catch();
    let database = Database::start(config, Use::Command).await?;
    let outcome = match database.private_socket() {
        Some(socket) => {
            let mut command = Command::new("psql");
            command.arg("-h").arg(&socket.directory).args(["-U", socket.user, "-d", socket.database]).args(arguments);
            // In a thread, because this one looks after PostgreSQL meanwhile.
            let status = tokio::task::spawn_blocking(move || command.status()).await;
            let manually = format!("psql -h {} -U {} {}", socket.directory.display(), socket.user, socket.database);
            match status {
                Ok(Ok(status)) => Ok(code_of(status)),
                Ok(Err(error)) => {
                    Err(format!("psql does not start: {error}; where there is one, connect with: {manually}"))
                }
                Err(error) => Err(error.to_string()),
            }
        }
        None => Err("DATABASE_URL is set; open that database with: psql \"$DATABASE_URL\"".to_owned()),
    };
    database.stop().await;
    outcome.map_err(CommandFailure::from)
}

fn code_of(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
