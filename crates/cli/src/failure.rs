//! Why a command fails, and the exit code that says so.

use std::fmt::Display;
use std::process::ExitCode;

use http::StatusCode;

use keymeter::api::errors::failure::ApiError;
use keymeter::app::StartError;
use keymeter::storage::OpenError;
use keymeter_postgres::backup::BackupError;

/// The exit code if a person has to choose another database or to install one, so that a supervisor can tell it from a
/// failure that passes.
const NO_DATABASE: u8 = 2;

/// Exit codes of commands that act on tokens, users and gateways. 1 is every other failure, and clap ends with 2 for
/// wrong usage.
pub mod exit {
    /// The arguments are wrong, or something has to be set first.
    pub const USAGE: u8 = 2;
    /// Not signed in, or not allowed.
    pub const NOT_ALLOWED: u8 = 3;
    /// The object does not exist.
    pub const NOT_FOUND: u8 = 4;
    /// The present state does not allow it.
    pub const CONFLICT: u8 = 5;
    /// The server cannot be reached or cannot answer now; the same command may succeed later.
    pub const UNAVAILABLE: u8 = 6;
}

/// Why a command failed: one line, and the exit code.
#[derive(Debug)]
pub struct CommandFailure {
    pub message: String,
    pub code: ExitCode,
    /// Whether a server may have done what it was asked, because its answer was lost.
    pub may_be_done: bool,
}

impl CommandFailure {
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), code: ExitCode::from(code), may_be_done: false }
    }
}

impl CommandFailure {
    /// An error that the API answers with this status.
    pub fn of_status(status: StatusCode, message: String) -> Self {
        match status.as_u16() {
            401 | 403 => Self::new(exit::NOT_ALLOWED, message),
            404 => Self::new(exit::NOT_FOUND, message),
            409 | 412 => Self::new(exit::CONFLICT, message),
            429 | 500..=599 => Self::new(exit::UNAVAILABLE, message),
            _ => message.into(),
        }
    }

    /// The same failure in the words of the command line: each member of the API, which the server puts in backticks,
    /// as the option that named it.
    pub fn naming(mut self, options: &[(&str, &str)]) -> Self {
        for (member, option) in options {
            self.message = self.message.replace(&format!("`{member}`"), &format!("`{option}`"));
        }
        self.message = self.message.replace("or -1 for no limit", "or none for no limit");
        self
    }

    /// The same of a service on this machine.
    pub fn refused(error: impl Into<ApiError> + Display) -> Self {
        let message = error.to_string();
        Self::of_status(error.into().status, message)
    }
}

impl From<String> for CommandFailure {
    fn from(message: String) -> Self {
        Self { message, code: ExitCode::FAILURE, may_be_done: false }
    }
}

impl From<StartError> for CommandFailure {
    fn from(error: StartError) -> Self {
        let is_permanent = matches!(error, StartError::Open(OpenError::ForeignDatabase { .. }))
            || matches!(&error, StartError::Private(error) if error.is_permanent());
        let code = if is_permanent { ExitCode::from(NO_DATABASE) } else { ExitCode::FAILURE };
        Self { message: error.to_string(), code, may_be_done: false }
    }
}

impl From<BackupError> for CommandFailure {
    fn from(error: BackupError) -> Self {
        if let BackupError::Private(error) = error {
            return StartError::Private(error).into();
        }
        error.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use keymeter_postgres::PrivateError;

    use super::*;

    #[test]
    fn a_supervisor_can_tell_a_backup_that_needs_a_person() {
        let failure = CommandFailure::from(BackupError::Private(PrivateError::NoAccount));
        assert_eq!(failure.code, ExitCode::from(NO_DATABASE));
        let failure = CommandFailure::from(BackupError::Incomplete("there".into()));
        assert_eq!(failure.code, ExitCode::FAILURE);
    }

    #[test]
    fn a_failure_names_options_as_they_were_typed() {
        let failure = CommandFailure::of_status(
            StatusCode::BAD_REQUEST,
            "`period_limits.day` must be a whole number from 0 to 9, or -1 for no limit; `day` is".to_owned(),
        );
        let named = failure.naming(&[("period_limits.day", "--usd-per-day"), ("period", "--period")]);
        let sentence = "`--usd-per-day` must be a whole number from 0 to 9, or none for no limit; `day` is";
        assert_eq!((named.message.as_str(), named.code), (sentence, ExitCode::FAILURE));
    }

    #[test]
    fn statuses_have_exit_codes() {
        for (status, code) in
            [(400, 1), (401, 3), (403, 3), (404, 4), (409, 5), (412, 5), (413, 1), (429, 6), (500, 6), (503, 6)]
        {
            let failure = CommandFailure::of_status(StatusCode::from_u16(status).unwrap(), String::new());
            assert_eq!(failure.code, ExitCode::from(code), "{status}");
        }
    }
}
