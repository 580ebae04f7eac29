//! Prints a directory of the former database as SQL. Nothing else may use it meanwhile.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use pglite_oxide::{PgDumpOptions, PgliteServer};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).ok_or("usage: former-database DIRECTORY > keymeter.sql")?;
    // Elsewhere it would make an empty database, and print that.
    if !Path::new(&directory).join("tmp/pglite/base/PG_VERSION").exists() {
        return Err(format!("{} has no former database; it is usually data/postgres", directory.display()).into());
    }
    // Entered, but not blocked: the database blocks this thread.
    let runtime = tokio::runtime::Runtime::new()?;
    let _entered = runtime.enter();
    let server = PgliteServer::builder().path(directory).start()?;
    let sql = server.dump_sql(PgDumpOptions::new().database("postgres").arg("--no-owner"))?;
    std::io::stdout().write_all(sql.as_bytes())?;
    server.shutdown()?;
    Ok(())
}
