//! The rates of a model that are in force for a request, and what units cost by them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use num_bigint::BigInt;

use super::cost_line::CostLine;
use super::count::UnitCount;
use super::rate::{RateTier, TieredRate, UnitRate};
use super::unit::{COMMON_PER, INPUT_TOKENS, REQUESTS, Unit, UnitTable};
use super::units::{Units, UnitsInvalid};
use super::unknown::{NotPriced, TooExpensive, Unknown};
use crate::domain::bounds;
use crate::domain::group::Ratio;
use crate::domain::money::Quota;

/// Rates by unit.
#[derive(Debug, Clone)]
pub struct Rates {
    table: Arc<UnitTable>,
    /// Parts before their wholes.
    all: Vec<RateOfUnit>,
    /// The least that is billed of a unit, if any of it was used.
    minimum: Option<(String, UnitCount)>,
    content: OnceLock<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RateOfUnit {
    unit: Arc<Unit>,
    rate: TieredRate,
    /// Where the parts of it are that have a rate.
    parts: Vec<usize>,
}

impl PartialEq for Rates {
    /// Returns true if requests cost the same by both.
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all && self.minimum == other.minimum
    }
}

impl Eq for Rates {}

/// Rates by which some units would have no price, or two.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RatesInvalid {
    #[error("the unit `{0}` is not known")]
    Unknown(String),
    #[error("`{part}` has a rate, but `{whole}`, which it is a part of, has none")]
    Whole { part: String, whole: String },
    #[error("`{one}` and `{other}` have rates, but what is both has none")]
    Joint { one: String, other: String },
    #[error("there are too many rates and tiers for one price")]
    TooMany,
}

impl Rates {
    /// Rates by the names of their units.
    ///
    /// # Errors
    /// See [`RatesInvalid`].
    pub fn new(
        rates: BTreeMap<String, TieredRate>,
        minimum: Option<(String, UnitCount)>,
        table: &Arc<UnitTable>,
    ) -> Result<Self, RatesInvalid> {
        let with_unit = |(name, rate): (String, TieredRate)| match table.get(&name) {
            Some(unit) => Ok(RateOfUnit { unit: Arc::clone(unit), rate, parts: Vec::new() }),
            None => Err(RatesInvalid::Unknown(name)),
        };
        let mut rates = rates.into_iter().map(with_unit).collect::<Result<Vec<_>, _>>()?;
        rates.sort_by_key(|rate| Reverse(rate.unit.depth()));
        let names: Vec<&str> = rates.iter().map(|rate| rate.unit.name()).collect();
        for (at, RateOfUnit { unit, .. }) in rates.iter().enumerate() {
            if let Some(whole) = unit.wholes().iter().find(|whole| !names.contains(&whole.as_str())) {
                return Err(RatesInvalid::Whole { part: unit.name().to_owned(), whole: whole.clone() });
            }
            for other in rates.iter().skip(at + 1) {
                let joint = unit.overlap(&other.unit).map(|dimensions| table.by_dimensions(&dimensions));
                if joint.is_some_and(|joint| joint.is_none_or(|joint| !names.contains(&joint))) {
                    return Err(RatesInvalid::Joint {
                        one: unit.name().to_owned(),
                        other: other.unit.name().to_owned(),
                    });
                }
            }
        }
        let parts_of = |whole: &Unit| {
            let parts = rates.iter().enumerate().filter(|(_, part)| part.unit.is_part_of(whole));
            parts.map(|(at, _)| at).collect()
        };
        let parts: Vec<_> = rates.iter().map(|rate| parts_of(&rate.unit)).collect();
        for (rate, parts) in rates.iter_mut().zip(parts) {
            rate.parts = parts;
        }
        let rates = Self { table: Arc::clone(table), all: rates, minimum, content: OnceLock::new() };
        // Beside it, the database keeps the ratio.
        let is_short = rates.content().len() + 100 <= bounds::MAX_PRICE_CONTENT_CHARS;
        is_short.then_some(rates).ok_or(RatesInvalid::TooMany)
    }

    /// These rates, with others in the place of some.
    ///
    /// # Errors
    /// See [`RatesInvalid`].
    pub fn with(&self, others: BTreeMap<String, TieredRate>) -> Result<Self, RatesInvalid> {
        let mut rates = self.by_unit();
        rates.extend(others);
        Self::new(rates, self.minimum.clone(), &self.table)
    }

    /// The rates by the names of their units.
    pub fn by_unit(&self) -> BTreeMap<String, TieredRate> {
        self.all.iter().map(|rate| (rate.unit.name().to_owned(), rate.rate.clone())).collect()
    }

    /// All that a cost is computed from as the members of a JSON object, by which the database knows it: each unit with
    /// its rate as decimal text, how many of it that is for, and the units with a rate that are parts of it.
    pub fn content(&self) -> &Arc<str> {
        self.content.get_or_init(|| {
            let of_unit = |RateOfUnit { unit, rate, parts }: &RateOfUnit| {
                let tier = |tier: &RateTier| format!(r#"[{},"{}"]"#, tier.start, tier.rate);
                let tiers = list(r#","tiers":"#, rate.tiers.iter().map(tier));
                let parts = parts.iter().filter_map(|part| self.all.get(*part));
                let parts = list(r#","parts":"#, parts.map(|part| format!("\"{}\"", part.unit.name())));
                let (name, per, base) = (unit.name(), unit.per(), rate.base);
                format!(r#"{{"unit":"{name}","per":{per},"rate":"{base}"{tiers}{parts}}}"#)
            };
            let minimum = self.minimum.iter().map(|(unit, count)| format!(r#","minimum":["{unit}",{count}]"#));
            let rates = list(r#""rates":"#, self.all.iter().map(of_unit));
            (rates + &minimum.collect::<String>()).into()
        })
    }

    /// The least quota that covers these units.
    ///
    /// # Errors
    /// See [`Unknown`].
    pub fn cost(&self, units: &Units, ratio: Ratio) -> Result<Quota, Unknown> {
        let mut sum = BigInt::ZERO;
        self.each_line(units, |line| sum += line.amount())?;
        Ok(in_quota(&sum, ratio)?)
    }

    /// What a cost is the sum of, before the ratio of a group.
    ///
    /// # Errors
    /// See [`Unknown`].
    pub fn cost_lines(&self, units: &Units) -> Result<Vec<CostLine<'_>>, Unknown> {
        let mut lines = Vec::new();
        self.each_line(units, |line| lines.push(line))?;
        Ok(lines)
    }

    fn each_line<'a>(&'a self, units: &Units, each: impl FnMut(CostLine<'a>)) -> Result<(), Unknown> {
        let input = units.get(INPUT_TOKENS).nanos();
        self.own_counts(units, |of| (of.rate.at(input), &of.unit), each)
    }

    /// The least quota that covers what a request with these units can turn out to be: of what it cannot exclude, such
    /// as a cache that is written or thinking, all may be the dearest. Sound and pictures are only what is counted of
    /// them, and may turn out to be none.
    ///
    /// # Errors
    /// See [`Unknown`].
    pub fn most(&self, units: &Units, ratio: Ratio) -> Result<Quota, Unknown> {
        let needs_rate = |unit: &Unit| unit.needs_own_rate() && self.find(unit.name()).is_none();
        let mut used = units.used().filter_map(|(name, _)| self.table.get(name));
        if let Some(unit) = used.find(|unit| needs_rate(unit)) {
            return Err(NotPriced::NoRate(unit.name().to_owned()).into());
        }
        let input = units.get(INPUT_TOKENS).nanos();
        let dearest = |of| self.dearest_of(of, input);
        let mut sum = BigInt::ZERO;
        self.own_counts(units, dearest, |line| sum += line.amount())?;
        Ok(in_quota(&sum, ratio)?)
    }

    /// The dearest rate that what is counted by a unit may have.
    fn dearest_of<'a>(&'a self, of: &'a RateOfUnit, input: i128) -> (UnitRate, &'a Unit) {
        let without_content = self.whole_without_content(&of.unit);
        let rates = [self.dearest(&of.unit, input), without_content.and_then(|unit| self.dearest(unit, input))];
        let dearest = rates.into_iter().flatten().max_by_key(|(rate, unit)| rate_of_one(*rate, unit));
        dearest.unwrap_or((of.rate.base, &of.unit))
    }

    /// The own count of each unit, without its parts, at a rate.
    fn own_counts<'a>(
        &'a self,
        units: &Units,
        rate: impl Fn(&'a RateOfUnit) -> (UnitRate, &'a Unit),
        mut each: impl FnMut(CostLine<'a>),
    ) -> Result<(), Unknown> {
        self.check_coverage(units)?;
        let mut own_counts: Vec<i128> = Vec::with_capacity(self.all.len());
        for of in &self.all {
            let name = of.unit.name();
            if units.reported(name).is_none() && self.may_be_both(&of.unit, units) {
                return Err(UnitsInvalid::Missing(name.to_owned()).into());
            }
            let of_parts: i128 = of.parts.iter().filter_map(|part| own_counts.get(*part)).sum();
            let own_count = self.billed(name, units).nanos() - of_parts;
            if own_count < 0 {
                return Err(UnitsInvalid::LessThanParts(name.to_owned()).into());
            }
            own_counts.push(own_count);
            if own_count > 0 {
                let (rate, unit) = rate(of);
                each(CostLine { unit, count: UnitCount::from_nanos(own_count), rate });
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&RateOfUnit> {
        self.all.iter().find(|rate| rate.unit.name() == name)
    }

    /// What is billed of a unit.
    fn billed(&self, name: &str, units: &Units) -> UnitCount {
        let count = if name == REQUESTS { UnitCount::whole(1) } else { units.get(name) };
        match &self.minimum {
            Some((unit, least)) if unit == name && count > UnitCount::ZERO => count.max(*least),
            Some(_) | None => count,
        }
    }

    /// Each unit that is used has a rate, or is a part of one that has and that counts no less.
    fn check_coverage(&self, units: &Units) -> Result<(), Unknown> {
        for (name, count) in units.used() {
            let wholes = self.table.get(name).map(|unit| unit.wholes()).unwrap_or_default();
            let mut with_rate = wholes.iter().filter(|whole| self.find(whole).is_some()).peekable();
            if self.find(name).is_none() && with_rate.peek().is_none() {
                return Err(NotPriced::NoRate(name.to_owned()).into());
            }
            if let Some(whole) = with_rate.find(|whole| units.get(whole) < count) {
                return Err(UnitsInvalid::LessThanParts(whole.clone()).into());
            }
        }
        Ok(())
    }

    /// The dearest rate that a unit or a part of it with the same content may have.
    fn dearest(&self, unit: &Unit, input: i128) -> Option<(UnitRate, &Unit)> {
        let content = unit.special_content();
        let of_unit = |rate: &&RateOfUnit| {
            (rate.unit.name() == unit.name() || rate.unit.is_part_of(unit)) && rate.unit.special_content() == content
        };
        let rates = self.all.iter().filter(of_unit).map(|rate| (rate.rate.dearest(input), rate.unit.as_ref()));
        rates.max_by_key(|(rate, unit)| rate_of_one(*rate, unit))
    }

    /// The unit of which a unit is the part with special content, if that whole has no special content itself.
    fn whole_without_content(&self, unit: &Unit) -> Option<&Unit> {
        let content = unit.special_content()?;
        let wholes = || unit.wholes().iter().filter_map(|whole| self.table.get(whole));
        if wholes().any(|whole| whole.special_content() == Some(content)) {
            return None;
        }
        wholes().max_by_key(|whole| whole.depth()).map(Arc::as_ref)
    }

    /// Returns true if two units that are used overlap in exactly this one.
    fn may_be_both(&self, unit: &Unit, units: &Units) -> bool {
        let used = unit.wholes().iter().filter(|whole| units.get(whole) > UnitCount::ZERO);
        let used: Vec<_> = used.filter_map(|whole| self.table.get(whole)).collect();
        let is_joint = |one: &Unit, other: &Unit| {
            let joint = one.overlap(other);
            !one.is_part_of(other)
                && !other.is_part_of(one)
                && joint.is_some_and(|joint| self.table.by_dimensions(&joint) == Some(unit.name()))
        };
        used.iter().enumerate().any(|(at, one)| used.iter().skip(at + 1).any(|other| is_joint(one, other)))
    }
}

/// A JSON list after the name of its member; nothing if it is empty.
fn list(member: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { String::new() } else { format!("{member}[{}]", items.join(",")) }
}

/// What one of a unit costs, as [`CostLine::amount`] has it.
fn rate_of_one(rate: UnitRate, unit: &Unit) -> BigInt {
    CostLine { unit, count: UnitCount::whole(1), rate }.amount()
}

/// The least quota that covers such an amount in a group with this ratio: rounded once, up.
fn in_quota(amount: &BigInt, ratio: Ratio) -> Result<Quota, TooExpensive> {
    let scaled = amount * BigInt::from(ratio.billionths()) * BigInt::from(bounds::QUOTA_PER_USD);
    let one = BigInt::from(10).pow(27 + 9) * BigInt::from(COMMON_PER);
    let units = (scaled + &one - BigInt::from(1)) / one;
    Quota::grant(i64::try_from(&units).map_err(|_| TooExpensive)?).map_err(|_| TooExpensive)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn table() -> Arc<UnitTable> {
        Arc::new(UnitTable::with(BTreeMap::new()).unwrap())
    }

    fn rates(rates: &[(&str, &str)]) -> Result<Rates, RatesInvalid> {
        let rate = |text: &str| TieredRate::from(UnitRate::read(text).unwrap());
        let rates = rates.iter().map(|(unit, text)| ((*unit).to_owned(), rate(text)));
        Rates::new(rates.collect(), None, &table())
    }

    fn cost(rates: &Rates, units: &Units) -> Result<i64, Unknown> {
        rates.cost(units, Ratio::ONE).map(Quota::get)
    }

    const SONNET: [(&str, &str); 6] = [
        ("input_tokens", "3"),
        ("cache_write_tokens", "3.75"),
        ("cache_write_1h_tokens", "6"),
        ("cache_read_tokens", "0.3"),
        ("output_tokens", "15"),
        ("web_searches", "10"),
    ];

    #[test]
    fn a_part_with_a_rate_is_taken_out_of_its_whole_and_one_without_is_billed_as_it() {
        let sonnet = rates(&SONNET).unwrap();
        let input = ("input_tokens", 1_000_000);
        let table = [
            (Units::from([input]), 1_500_000),
            (Units::from([input, ("cache_read_tokens", 1_000_000)]), 150_000),
            (Units::from([input, ("cache_write_tokens", 1_000_000)]), 1_875_000),
            (Units::from([input, ("cache_write_tokens", 1_000_000), ("cache_write_1h_tokens", 600_000)]), 2_550_000),
            // The five minutes have no rate of their own.
            (Units::from([input, ("cache_write_tokens", 1_000_000), ("cache_write_5m_tokens", 600_000)]), 1_875_000),
            (Units::from([("output_tokens", 1_000_000), ("output_reasoning_tokens", 900_000)]), 7_500_000),
            (Units::from([("web_searches", 3)]), 15_000),
            (Units::from([("input_tokens", 1)]), 2),
            (Units::default(), 0),
        ];
        for (units, quota) in table {
            assert_eq!(cost(&sonnet, &units), Ok(quota), "{units:?}");
        }
    }

    #[test]
    fn the_lines_of_a_cost_say_each_rate_and_its_own_count() {
        let sonnet = rates(&SONNET).unwrap();
        let units = Units::from([
            ("input_tokens", 1_000_000),
            ("cache_write_tokens", 400_000),
            ("cache_write_1h_tokens", 300_000),
            ("output_reasoning_tokens", 5),
            ("output_tokens", 7),
            ("web_searches", 3),
        ]);
        let mut lines: Vec<_> = sonnet.cost_lines(&units).unwrap();
        lines.sort_by_key(|line| line.unit.name());
        let lines: Vec<_> = lines.iter().map(|line| (line.unit.name(), line.count.to_string(), line.usd())).collect();
        let line = |unit, count: &str, usd: &str| (unit, count.to_owned(), usd.to_owned());
        let expected = [
            line("cache_write_1h_tokens", "300000", "1.8"),
            line("cache_write_tokens", "100000", "0.375"),
            line("input_tokens", "600000", "1.8"),
            line("output_tokens", "7", "0.000105"),
            line("web_searches", "3", "0.03"),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_has_no_rate_is_never_free() {
        let sonnet = rates(&SONNET).unwrap();
        let refused = |units: Units| cost(&sonnet, &units).unwrap_err().to_string();
        assert_eq!(refused(Units::from([("storage_searches", 1)])), "has no rate for `storage_searches`");
        assert_eq!(refused(Units::from([("cache_read_tokens", 1)])), "`input_tokens` is less than its parts");
        let searches = rates(&[("web_searches", "10")]).unwrap();
        let tokens = Units::from([("input_tokens", 5), ("web_searches", 1)]);
        assert_eq!(cost(&searches, &tokens), Err(NotPriced::NoRate("input_tokens".into()).into()));
    }

    #[test]
    fn units_that_overlap_need_what_is_both() {
        let sound = [("input_tokens", "1"), ("input_audio_tokens", "10"), ("cache_read_tokens", "0.5")];
        let joint = RatesInvalid::Joint { one: "cache_read_tokens".into(), other: "input_audio_tokens".into() };
        assert_eq!(rates(&sound), Err(joint));
        let sound = rates(&[sound[0], sound[1], sound[2], ("cache_audio_read_tokens", "2")]).unwrap();
        let counts = [("input_tokens", 100), ("input_audio_tokens", 60), ("cache_read_tokens", 50)];
        let unknown = Unknown::from(UnitsInvalid::Missing("cache_audio_read_tokens".into()));
        assert_eq!(cost(&sound, &Units::from(counts)), Err(unknown));
        let [input, audio, cached] = counts;
        let both = |both: i64| cost(&sound, &Units::from([input, audio, cached, ("cache_audio_read_tokens", both)]));
        // 20 plain, 30 audio, 20 cached, 30 both.
        assert_eq!(both(30), Ok((20 + 300 + 10 + 60) / 2));
        assert_eq!(both(0), Err(UnitsInvalid::LessThanParts("input_tokens".into()).into()));
    }

    #[test]
    fn the_content_has_everything_that_a_cost_is_computed_from() {
        let rate = |text| UnitRate::read(text).unwrap();
        let tiers = vec![RateTier { start: 1_000, rate: rate("4") }];
        let input = TieredRate { base: rate("2"), tiers };
        let all = [("input_tokens".to_owned(), input), ("cache_read_tokens".to_owned(), rate("0.2").into())];
        let minimum = Some(("input_tokens".to_owned(), UnitCount::whole(10)));
        let rates = Rates::new(all.into(), minimum, &table()).unwrap();
        let expected = r#""rates":[{"unit":"cache_read_tokens","per":1000000,"rate":"0.2"},{"unit":"input_tokens","per":1000000,"rate":"2","tiers":[[1000,"4"]],"parts":["cache_read_tokens"]}],"minimum":["input_tokens",10]"#;
        assert_eq!(&**rates.content(), expected);
    }

    #[test]
    fn a_rate_without_that_of_its_whole_is_refused() {
        let whole = RatesInvalid::Whole { part: "cache_read_tokens".into(), whole: "input_tokens".into() };
        assert_eq!(rates(&[("cache_read_tokens", "1"), ("output_tokens", "1")]), Err(whole));
        assert_eq!(rates(&[("tokens", "1")]), Err(RatesInvalid::Unknown("tokens".into())));
    }

    #[test]
    fn a_reservation_that_names_searches_or_sound_needs_their_rates() {
        let sonnet = rates(&SONNET).unwrap();
        let most = |units: Units| sonnet.most(&units, Ratio::ONE).map(Quota::get);
        let tokens = [("input_tokens", 1_000_000), ("output_tokens", 1_000_000)];
        // An hour's cache is the dearest input.
        assert_eq!(most(Units::from(tokens)), Ok(3_000_000 + 7_500_000));
        assert_eq!(most(Units::from([tokens[0], ("input_image_tokens", 9)])), Ok(3_000_000));
        for unit in ["input_audio_tokens", "output_image_tokens", "storage_searches"] {
            let refused = most(Units::from([tokens[0], tokens[1], (unit, 1)]));
            assert_eq!(refused, Err(NotPriced::NoRate(unit.into()).into()));
        }
    }

    fn pairs(names: &BTreeSet<String>) -> Vec<(String, String)> {
        let with_others =
            |one: &String| names.iter().map(move |other| (one.clone(), other.clone())).collect::<Vec<_>>();
        names.iter().flat_map(with_others).collect()
    }

    prop_compose! {
        /// Rates of some units, with those of their wholes and of what is two of them.
        fn any_rates()(
            units in proptest::sample::subsequence(table().names().map(str::to_owned).collect::<Vec<_>>(), 1..5),
            numbers in proptest::collection::vec((1..50_000_000_i64, proptest::option::of((0..2_000_i64, 1..50_000_000_i64))), 64),
        ) -> Rates {
            let table = table();
            let mut priced: BTreeSet<String> = units.into_iter().collect();
            loop {
                let before = priced.len();
                for name in priced.clone() {
                    priced.extend(table.get(&name).unwrap().wholes().iter().cloned());
                }
                for (one, other) in pairs(&priced) {
                    let joint = table.get(&one).unwrap().overlap(table.get(&other).unwrap());
                    priced.extend(joint.and_then(|dimensions| table.by_dimensions(&dimensions)).map(str::to_owned));
                }
                if priced.len() == before {
                    break;
                }
            }
            let rate = |micros: i64| UnitRate::read(&format!("{micros}e-6")).unwrap();
            let all = priced.into_iter().zip(numbers).map(|(unit, (base, tier))| {
                let tiers = tier.map(|(start, tier)| RateTier { start, rate: rate(tier) });
                (unit, TieredRate { base: rate(base), tiers: tiers.into_iter().collect() })
            });
            Rates::new(all.collect(), None, &table).unwrap_or_else(|_| rates(&SONNET).unwrap())
        }
    }

    /// Counts in which every whole is the sum of its parts and something of its own.
    fn any_units() -> impl Strategy<Value = Units> {
        let names: Vec<_> = table().names().filter(|name| *name != REQUESTS).map(str::to_owned).collect();
        let own = (proptest::sample::subsequence(names, 0..5), proptest::collection::vec(1..1_000_i64, 5));
        own.prop_map(|(units, counts)| {
            let table = table();
            let mut sums: BTreeMap<String, i64> = BTreeMap::new();
            for (name, count) in units.into_iter().zip(counts) {
                for unit in std::iter::once(&name).chain(table.get(&name).unwrap().wholes()) {
                    *sums.entry(unit.clone()).or_default() += count;
                }
            }
            let mut units = Units::default();
            for (unit, count) in sums {
                units.add(&unit, UnitCount::whole(count)).unwrap();
            }
            units
        })
    }

    proptest! {
        #[test]
        fn a_request_costs_at_most_its_hold(rates in any_rates(), units in any_units(), share in 0..=4_i64) {
            let Ok(most) = rates.most(&units, Ratio::ONE) else {
                return Ok(());
            };
            // Less of everything, in one proportion.
            let mut less = Units::default();
            for (name, count) in units.used() {
                less.add(name, UnitCount::whole(count.floor() * share / 4)).unwrap();
            }
            // What is named as nothing more special may all be cache or thinking, and sound may be none.
            let plain = |whole: &'static str, part: &'static str| {
                let count = (units.get(whole).nanos() - units.get(part).nanos()) / 1_000_000_000;
                Units::from([(whole, i64::try_from(count).unwrap())])
            };
            let mut cases = vec![units.clone(), less];
            for (whole, content, part) in [
                ("input_tokens", "input_audio_tokens", "cache_write_tokens"),
                ("output_tokens", "output_audio_tokens", "output_reasoning_tokens"),
            ] {
                let mut all = plain(whole, content);
                all.add(part, all.get(whole)).unwrap();
                if units.used().all(|(name, _)| name == whole || name == content) {
                    cases.extend([plain(whole, content), all]);
                }
            }
            for used in cases {
                if let Ok(cost) = rates.cost(&used, Ratio::ONE) {
                    prop_assert!(cost <= most, "{used:?} costs {cost:?} of {most:?}");
                }
            }
        }

        #[test]
        fn the_quota_is_rounded_up_once(
            rates in any_rates(), units in any_units(), ratio in 1..3_000_000_000_i64,
        ) {
            let one = rates.cost(&units, Ratio::ONE).map(Quota::get);
            let scaled = rates.cost(&units, Ratio::new(ratio).unwrap()).map(Quota::get);
            if let (Ok(one), Ok(scaled)) = (one, scaled) {
                let least = i128::from((one - 1).max(0)) * i128::from(ratio) / 1_000_000_000;
                let most = (i128::from(one) * i128::from(ratio) + 999_999_999) / 1_000_000_000;
                prop_assert!((least..=most).contains(&i128::from(scaled)), "{one} {scaled} {ratio}");
            }
        }
    }
}
