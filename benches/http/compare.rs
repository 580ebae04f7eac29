//! Two programs of the service, measured in pairs: each round runs a case with one and then with the other, in turn
//! first.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor};
use tokio::runtime::Runtime;

use crate::installation::Installation;
use crate::load::{self, Case, Measured, Work};
use crate::{Options, spend, user_calls, verify};

/// Measures both programs, each on a database of its own in one PostgreSQL, and prints what the second does relative to
/// the first: the median of the pairs, and the middle half of them.
pub fn run(client: &Runtime, options: &Options) {
    let [first, second] = &options.programs[..] else { panic!("--compare NAME=PROGRAM is needed twice") };
    let installations = [first, second].map(|(name, program)| {
        client.block_on(Installation::start(name, Some(program), options.grown.0.min(100_000), 0))
    });
    let [both, of_second] = &options.sql;
    for (installation, sql) in [(&installations[0], both), (&installations[1], both), (&installations[1], of_second)] {
        client.block_on(installation.pool.execute(AssertSqlSafe(sql.clone()))).unwrap();
    }
    let [cases, others] = installations.each_ref().map(cases);
    println!(
        "\n| call | {} /s | {} /s | ratio | middle half | service µs | PostgreSQL µs | p50 ms | p99 ms | ratio of p99 | middle half |",
        first.0, second.0
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (case, other) in cases.iter().zip(&others).filter(|(case, _)| case.name.contains(&options.only)) {
        let pair = [case, other];
        let mut measured = [Measured::default(), Measured::default()];
        let time = Duration::from_secs_f64(options.seconds);
        for case in pair {
            load::run_unmeasured(client, case, options.connections, Duration::from_millis(500));
        }
        for round in 0..options.rounds {
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for at in order {
                load::measure(client, pair[at], options.connections, time, options.offered, &mut measured[at]);
            }
        }
        let [old, new] = &mut measured;
        let (rates, tails) = (quarters_of_ratios(&old.rates, &new.rates), quarters_of_ratios(&old.p99s, &new.p99s));
        let [p50s, p99s] = [50, 99].map(|percent| (old.percentile(percent), new.percentile(percent)));
        let ((old_service, old_database), (service, database)) = (old.cost(), new.cost());
        println!(
            "| {} | {:.0} | {:.0} | **{:.2}** | {:.2}–{:.2} | {old_service:.0} → {service:.0} | {old_database:.0} → {database:.0} \
             | {:.1} → {:.1} | {:.1} → {:.1} | **{:.2}** | {:.2}–{:.2} |",
            case.name,
            old.rate(),
            new.rate(),
            rates[1],
            rates[0],
            rates[2],
            p50s.0,
            p50s.1,
            p99s.0,
            p99s.1,
            tails[1],
            tails[0],
            tails[2]
        );
    }
    for installation in &installations {
        println!("{}", installation.check_ledger());
        client.block_on(installation.remove());
    }
}

/// The quarters of the ratios of each pair.
fn quarters_of_ratios(old: &[f64], new: &[f64]) -> [f64; 3] {
    load::quarters(&new.iter().zip(old).map(|(new, old)| new / old).collect::<Vec<_>>())
}

fn cases(installation: &Installation) -> Vec<Case<'_>> {
    let case = |name: &str, work| Case::new(name, &installation.server, work);
    let spread = spend(installation, &installation.keys);
    let mut cases = vec![
        case("verify", verify(installation, 1_000)),
        case("charge", Work::Charges(spread.clone())),
        case("charge: without id", Work::Charges(crate::Spend { has_id: false, ..spread.clone() })),
        case("charge: hot", Work::Charges(spend(installation, &installation.keys[..1].into()))),
        case("pair", Work::Reservations(spread)),
    ];
    cases.extend(user_calls(installation).into_iter().map(|(name, call, _)| case(name, call)));
    cases
}
