//! Why the service does not start.

use std::path::PathBuf;

use keymeter_postgres::PrivateError;

use crate::domain::cell::CellLabel;
use crate::service::price_versions::SetPricesError;
use crate::service::secrets::SecretsError;
use crate::service::users::UsersError;
use crate::service::vault::MasterKeyInvalid;
use crate::storage::{OpenError, StorageError};

/// Why the service does not start. Each message is one line and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on {0}: {1}; free the port or set KEYMETER_SERVER__LISTEN")]
    Listen(String, std::io::Error),
    #[error("the setting `{0}` cannot be used: {1}")]
    Setting(&'static str, String),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Private(#[from] PrivateError),
    #[error("stopped by a signal")]
    Interrupted,
    #[error("cannot use {0}: {1}; make the data directory writable or set KEYMETER_DATA_DIR")]
    DataDir(PathBuf, std::io::Error),
    #[error("cannot read the new master key {0}: {1}; make one with: openssl rand -hex 32 > new.key")]
    NewMasterKey(PathBuf, std::io::Error),
    #[error("{0}: {1}")]
    MasterKeyFile(PathBuf, MasterKeyInvalid),
    #[error(
        "the master key is missing: this database was created with one; set KEYMETER_SECRETS__MASTER_KEY \
         or put it back at {0}"
    )]
    MasterKeyMissing(PathBuf),
    #[error(
        "the master key does not match this database; use the one it was created with \
         (KEYMETER_SECRETS__MASTER_KEY or {0})"
    )]
    MasterKeyWrong(PathBuf),
    #[error(
        "this database belongs to the cell `{database}`, and `cell.label` is `{setting}`; set KEYMETER_CELL__LABEL={database} \
         or use another database"
    )]
    WrongCell { database: String, setting: CellLabel },
    #[error("cannot create the root account: {0}; set KEYMETER_ROOT__PASSWORD")]
    Root(UsersError),
    #[error("cannot make the section [prices] of the settings the price list: {0}")]
    Prices(SetPricesError),
    #[error("{0}")]
    Fill(String),
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl StartError {
    /// Returns true if the same start may succeed shortly: the database does not answer, or takes no writes.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Open(error) => error.may_pass(),
            Self::Storage(error)
            | Self::Secrets(SecretsError::Storage(error))
            | Self::Root(UsersError::Storage(error))
            | Self::Prices(SetPricesError::Storage(error)) => error.is_outage(),
            Self::Secrets(SecretsError::OtherMasterKey | SecretsError::Damaged)
            | Self::Root(_)
            | Self::Prices(_)
            | Self::Listen(..)
            | Self::Setting(..)
            | Self::Private(_)
            | Self::Interrupted
            | Self::DataDir(..)
            | Self::NewMasterKey(..)
            | Self::MasterKeyFile(..)
            | Self::MasterKeyMissing(_)
            | Self::MasterKeyWrong(_)
            | Self::WrongCell { .. }
            | Self::Fill(_) => false,
        }
    }
}
