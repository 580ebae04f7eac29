//! The same transaction without HTTP and without the service: what PostgreSQL does by itself, through `pgbench`.

use std::process::Command;

use crate::Options;
use crate::baselines::CHARGE;
use crate::installation::Installation;
use crate::load::Measured;

/// Lets `pgbench` charge one of `keys` tokens in each transaction, and adds its rate for each round.
pub fn run(installation: &Installation, keys: usize, connections: usize, options: &Options, measured: &mut Measured) {
    let programs = std::env::var("PG_BIN").expect("PG_BIN: run this with `make bench`");
    let script = std::env::temp_dir().join(format!("{}.pgbench", installation.database));
    std::fs::write(&script, CHARGE.script()).unwrap();
    for round in 0..options.rounds {
        println!("pgbench, {connections} connections, round {} of {}", round + 1, options.rounds);
        let mut command = Command::new(format!("{programs}/pgbench"));
        let (first, last) = (installation.first_token, installation.first_token + i64::try_from(keys).unwrap() - 1);
        command
            .args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2", "--file"])
            .arg(&script)
            .args(["--client", &connections.to_string()])
            .args(["--time", &options.seconds.ceil().max(2.0).to_string()])
            .args(["--define", &format!("first={first}"), "--define", &format!("last={last}")])
            .arg(installation.url());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        measured.rates.push(rate.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))));
    }
    std::fs::remove_file(script).unwrap();
}
