//! Puts the service together: settings become a database, services, a router and background tasks, and end in a
//! graceful stop. The only module of the library that knows all others.

mod assembly;
mod database;
mod database_url;
mod error;
mod master_key;
mod pool_sizes;
mod serve;
mod start;
mod stop_signals;

pub use keymeter_postgres::{PrivateError, PrivatePostgres, Use};

pub use self::assembly::App;
pub use self::database::{Database, Opened, open, prepare_as_root, require_data, with_database};
pub use self::error::StartError;
pub use self::master_key::{find_master_key, read_new_master_key, replace_master_key};
pub use self::serve::{connection_limits, serve};
pub use self::stop_signals::StopSignals;
pub use crate::api::openapi::openapi_json;
