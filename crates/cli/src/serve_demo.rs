//! `keymeter serve --demo`: fills an empty database, or uses the data that an earlier start made.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use keymeter_postgres::data_dir::{DEMO_PASSWORD_FILE, make_private};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::demo;
use keymeter::app::{App, Opened, StartError};
use keymeter::config::Config;
use keymeter::domain::clock::ManualClock;
use keymeter::domain::group::{GroupInfo, Ratio};
use keymeter::domain::password::random_password;
use keymeter::domain::setting::SettingValue;
use keymeter::domain::time::DAY;
use keymeter::service::passwords::HashCost;
use keymeter::service::rng::Rng;
use keymeter::storage::{self, retention, users};

/// Why a database is not filled.
const NOT_EMPTY: &str = "this database is not empty, and --demo needs an empty one or its own data; set another KEYMETER_DATA_DIR or \
                         DATABASE_URL";

/// Adds the groups and models of the demo to settings that name none.
pub fn add_settings(config: &mut Config) {
    if config.groups.keys().eq(["default"]) {
        for (name, description, ratio, open) in
            [("batch", "Slower, at half the price", 500_000_000, true), ("partners", "Partners", 800_000_000, false)]
        {
            let ratio = Ratio::new(ratio).unwrap_or(Ratio::ONE);
            let info = GroupInfo { description: description.to_owned(), ratio, ratio_of_told: false, open };
            config.groups.insert(name.to_owned(), info);
        }
    }
    if config.models.names.is_empty() {
        config.models.names = demo::MODELS.map(str::to_owned).to_vec();
        if let Some(models) = config.shown.iter_mut().find(|setting| setting.name == "models.names") {
            models.value = SettingValue::List(config.models.names.clone());
            models.is_default = false;
        }
    }
}

/// Fills an empty database with three months of demo data that end now, unless they are there.
#[expect(clippy::print_stdout, reason = "shows progress and the password to the operator")]
pub async fn fill(opened: &Opened, config: &Config) -> Result<(), StartError> {
    let file = config.data_dir.join(DEMO_PASSWORD_FILE);
    let failed = |error| StartError::DataDir(file.clone(), error);
    let password = if is_filled(opened).await? {
        let Ok(password) = std::fs::read_to_string(&file) else {
            return Err(StartError::Fill(NOT_EMPTY.to_owned()));
        };
        println!("Going on with the demo data of an earlier start");
        Zeroizing::new(password)
    } else {
        let password =
            config.root.password.as_ref().map(|password| Zeroizing::new(password.expose_secret().to_owned()));
        let password = password.unwrap_or_else(|| Rng::system().generate(|rng| random_password(rng)));
        make_data(opened, config, &password.as_str().into()).await?;
        if !config.data_dir.exists() {
            make_private(&config.data_dir, 0o700).map_err(failed)?;
        }
        write_private(&file, &password).map_err(failed)?;
        password
    };
    println!("Sign in as `ana`, or as the administrator `root`, with the password {}", password.trim_end());
    Ok(())
}

async fn is_filled(opened: &Opened) -> Result<bool, StartError> {
    let mut conn = opened.db.acquire().await?;
    Ok(users::exist(&mut conn).await?)
}

#[expect(clippy::print_stdout, reason = "shows progress to the operator")]
async fn make_data(opened: &Opened, config: &Config, password: &SecretString) -> Result<(), StartError> {
    let now = storage::read_clock(&mut *opened.db.acquire().await?).await?.seconds();
    let start = now.plus(-demo::DAYS * DAY);
    {
        let mut tx = opened.db.begin().await?;
        for day in retention::list_missing_partitions(&mut tx, start, start.plus(demo::DAYS * DAY)).await? {
            retention::make_partition(&mut tx, day).await?;
        }
        storage::commit(tx).await?;
    }
    let clock = Arc::new(ManualClock::at(start));
    let opened = Opened { db: opened.db.clone(), vault: opened.vault.clone() };
    let app = App::assemble(opened, config, Arc::<ManualClock>::clone(&clock), Rng::system(), HashCost::STRONG)?;
    app.state.users.ensure_root(Some(password)).await.map_err(StartError::Root)?;
    print!("Creating demo data, {} days:", demo::DAYS);
    demo::fill(&app.state, &clock, password, |day| {
        if day % 10 == 0 {
            print!(" {day}");
            // A failed flush only delays the output.
            let _ = std::io::stdout().flush();
        }
    })
    .await
    .map_err(|error| StartError::Fill(format!("the demo data are incomplete: {error}; use another database")))?;
    app.refused_requests.write().await?;
    println!();
    Ok(())
}

/// Writes a file that only this user can read.
fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    writeln!(out, "{text}")
}
