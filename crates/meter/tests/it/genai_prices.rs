//! What is read from answers, compared with the library `genai-prices` itself over its own extractors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use keymeter_meter::extraction::{ExtractError, Extracted};
use keymeter_meter::extractor::Extractor;
use keymeter_meter::extractors::{Extractors, OWN_EXTRACTORS};
use keymeter_meter::json_value::JsonValue;
use keymeter_meter::number::ExactNumber;
use serde_json::value::RawValue;

use crate::answers::check_answers;

/// The provider, the API, the answer, whether a value in it has a wrong type, and what the library returns: the model
/// and the units.
type LibraryCase = (String, String, Box<RawValue>, bool, Option<(Option<String>, BTreeMap<String, String>)>);

struct Release {
    /// The names of its units.
    units: BTreeSet<String>,
    /// Its providers, as they are published.
    providers: String,
    cases: Vec<LibraryCase>,
}

/// Installed once, because two installations at the same time disturb each other.
static NEWEST: LazyLock<Release> = LazyLock::new(|| Release::new("newest", 15_000));

impl Release {
    fn new(which: &str, cases: usize) -> Self {
        let project = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut command = Command::new(project.join("scripts/genai-prices.sh"));
        let output = command.args([which, "extracted.py", "1", &cases.to_string()]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines();
        let units = serde_json::from_str(lines.next().unwrap()).unwrap();
        let providers = lines.next().unwrap().to_owned();
        Self { units, providers, cases: lines.map(|line| serde_json::from_str(line).unwrap()).collect() }
    }

    /// `own` extractors, and those of the release.
    fn extractors(&self, own: &str) -> Extractors {
        let mut extractors = Extractors::default();
        let is_unit = |unit: &str| self.units.contains(unit);
        extractors.add_own(own, is_unit).unwrap();
        extractors.add_published(&self.providers, is_unit).unwrap();
        assert_eq!(extractors.left_out, []);
        extractors
    }
}

fn extract(extractor: &Extractor, answer: &RawValue) -> Result<Extracted, ExtractError> {
    extractor.extract(&JsonValue::read(answer.get()).unwrap())
}

/// Differences that are meant: a value of the wrong type at an optional path is an error here and skipped there, and a
/// model without a name is none here.
#[test]
fn answers_are_read_as_genai_prices_reads_them() {
    for release in [&*NEWEST, &Release::new("before", 5_000)] {
        let extractors = release.extractors("[]");
        let (mut read, mut refused) = (0, 0);
        for (provider, api_flavor, answer, has_wrong_type, expected) in &release.cases {
            let extracted = extract(extractors.get(provider, api_flavor).unwrap(), answer);
            if *has_wrong_type && extracted.is_err() {
                continue;
            }
            let expected = expected.as_ref().map(|(model, units)| {
                let number = |number: &str| ExactNumber::read(number).unwrap();
                let units = units.iter().map(|(unit, text)| (unit.clone(), number(text))).collect::<BTreeMap<_, _>>();
                (model.clone().filter(|model| !model.is_empty()), units)
            });
            *(if expected.is_some() { &mut read } else { &mut refused }) += 1;
            let extracted = extracted.map(|extracted| (extracted.model, extracted.units));
            assert_eq!(extracted.as_ref().ok(), expected.as_ref(), "{provider} {api_flavor}: {answer}");
        }
        let count = release.cases.len();
        assert!(read > count / 2 && refused > count / 10, "{read} {refused}");
    }
}

#[test]
fn answers_are_read_by_our_extractors_and_those_of_genai_prices() {
    check_answers(&NEWEST.extractors(OWN_EXTRACTORS), true);
}

#[test]
fn with_our_extractors_no_unit_counts_less() {
    let (published, all) = (NEWEST.extractors("[]"), NEWEST.extractors(OWN_EXTRACTORS));
    let mut compared = 0;
    for (provider, api_flavor, answer, ..) in &NEWEST.cases {
        let [published, all] = [&published, &all].map(|all| extract(all.get(provider, api_flavor).unwrap(), answer));
        if let (Ok(published), Ok(all)) = (published, all) {
            for (unit, number) in published.units {
                let by_all = all.units.get(&unit).copied().unwrap_or_default();
                assert!(by_all >= number, "{provider} {api_flavor} {unit}: {answer}");
            }
            compared += 1;
        }
    }
    assert!(compared > NEWEST.cases.len() / 3, "{compared}");
}
