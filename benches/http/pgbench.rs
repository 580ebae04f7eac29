//! The same transaction without HTTP and without the service: what PostgreSQL does by itself, through `pgbench`.

use std::process::Command;

use crate::Options;
use crate::baselines::CHARGE;
use crate::installation::Installation;
use crate::load::Measured;

/// Seconds of a round: each connection takes a while to plan its statements.
const SECONDS: f64 = 10.0;

/// PostgreSQL is fastest with some number of connections in between.
const CONNECTIONS: [usize; 3] = [16, 64, 256];

/// Lets `pgbench` charge one of `keys` tokens in each transaction, and adds the
/// best rate.
pub fn run(installation: &Installation, keys: usize, options: &Options, measured: &mut Measured) {
    let programs = std::env::var("PG_BIN").expect("PG_BIN: run this with `make bench`");
    let script = std::env::temp_dir().join(format!("{}.pgbench", installation.database));
    std::fs::write(&script, CHARGE.script()).unwrap();
    let mut best = 0.0_f64;
    for connections in CONNECTIONS {
        println!("pgbench, {keys} keys, {connections} connections");
        let mut command = Command::new(format!("{programs}/pgbench"));
        let (first, last) = (installation.first_token, installation.first_token + i64::try_from(keys).unwrap() - 1);
        command
            .args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2", "--file"])
            .arg(&script)
            .args(["--client", &connections.to_string()])
            .args(["--time", &options.seconds.max(SECONDS).to_string()])
            .args(["--define", &format!("first={first}"), "--define", &format!("last={last}")])
            .arg(installation.url());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        best = best.max(rate.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))));
    }
    measured.rates.push(best);
    std::fs::remove_file(script).unwrap();
}
