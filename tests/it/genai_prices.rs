//! What requests cost, compared with the library `genai-prices` itself over its own data.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use keymeter::domain::group::Ratio;
use keymeter::domain::prices::count::UnitCount;
use keymeter::domain::prices::list::PriceList;
use keymeter::domain::prices::model_prices::{ModelPrices, PriceContext};
use keymeter::domain::prices::unit::{KNOWN_UNITS, UnitData, UnitTable};
use keymeter::domain::prices::units::Units;
use keymeter::domain::time::UnixTime;
use keymeter::service::published_prices::PublishedPrices;

use crate::harness::project::project;

/// A request as the library computes it: provider, name of the model, time, context, units, and the units of quota.
type Case = (String, String, i64, PriceContext, BTreeMap<String, String>, Option<i64>);

/// The data of a release, and requests for models in it.
fn release(which: &str, cases: usize, table: &Arc<UnitTable>) -> (PublishedPrices, Vec<Case>) {
    let mut command = Command::new(project().join("scripts/genai-prices.sh"));
    let output = command.args([which, "cases.py", "1", &cases.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (units, rest) = text.split_once('\n').unwrap();
    let (data, cases) = rest.split_once('\n').unwrap();
    if which == "newest" {
        assert_eq!(serde_json::from_str::<BTreeMap<String, UnitData>>(units).unwrap(), *KNOWN_UNITS);
    }
    let data = PublishedPrices::read(data, table).unwrap();
    (data, cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn cost(
    table: &UnitTable,
    prices: &ModelPrices,
    at: i64,
    context: &PriceContext,
    counts: &BTreeMap<String, String>,
) -> Option<i64> {
    let mut units = Units::default();
    for (unit, count) in counts {
        units.add(unit, UnitCount::read(count).unwrap()).unwrap();
    }
    units.check(table).unwrap();
    let rates = prices.in_force(UnixTime::new(at), context).ok()?;
    Some(rates.cost(&units, Ratio::ONE).ok()?.get())
}

#[test]
fn requests_cost_what_the_library_says_by_its_newest_data_and_by_that_before() {
    let table = Arc::new(UnitTable::with(BTreeMap::new()).unwrap());
    for (which, count) in [("newest", 70_000), ("before", 30_000)] {
        let (data, cases) = release(which, count, &table);
        let left_out = data.left_out.iter().filter(|model| !model.reason.starts_with("it has no price"));
        assert_eq!(left_out.collect::<Vec<_>>(), Vec::<&_>::new(), "{which}");
        let named: Vec<String> = data.providers.iter().map(|provider| provider.id.clone()).collect();
        let list = PriceList::new(BTreeMap::new(), &named, data.providers, Arc::default());
        let (mut priced, mut refused) = (0, 0);
        for case in &cases {
            let (provider, model, at, context, units, expected) = case;
            let found = list.find(model, Some(provider)).ok();
            let found = found.and_then(|prices| cost(&table, &prices, *at, context, units));
            assert_eq!(found, *expected, "{which}: {case:?}");
            *(if expected.is_some() { &mut priced } else { &mut refused }) += 1;
        }
        assert!(cases.len() == count && priced > count / 2 && refused > count / 100, "{priced} {refused}");
    }
}
