//! The keys of the demo, their models and prices.

use super::DAYS;

pub(super) struct Model {
    pub(super) name: &'static str,
    /// Quota units for 1,000 input and output tokens.
    pub(super) price: (i64, i64),
    /// Usual input and output tokens of a request.
    pub(super) tokens: (i64, i64),
}

const LARGE: Model = Model { name: "gpt-4o", price: (1_250, 5_000), tokens: (2_800, 520) };
const SMALL: Model = Model { name: "gpt-4o-mini", price: (75, 300), tokens: (3_600, 700) };
const LONG: Model = Model { name: "claude-sonnet-4", price: (1_500, 7_500), tokens: (6_400, 900) };
const EMBEDDING: Model = Model { name: "text-embedding-3-large", price: (65, 0), tokens: (5_200, 0) };

/// The names of all models, for the setting `models.names`.
pub const MODELS: [&str; 4] = [LARGE.name, SMALL.name, LONG.name, EMBEDDING.name];

/// The state of a key at the end of the demo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalState {
    Enabled,
    /// What remains is a twelfth of what was used.
    NearlySpent,
    Exhausted,
    /// Expires this number of days after now; before now if negative.
    Expires(i64),
    /// By its owner.
    Disabled,
    /// By an administrator.
    Locked,
}

pub(super) struct DemoKey {
    pub(super) owner: &'static str,
    pub(super) name: &'static str,
    pub(super) group: &'static str,
    /// The day of the demo on which it is created.
    pub(super) first_day: i64,
    /// Its quota; `None` for an unlimited token.
    pub(super) dollars: Option<i64>,
    /// At the end of the demo; fewer before.
    pub(super) requests_per_day: i64,
    pub(super) models: &'static [Model],
    pub(super) final_state: FinalState,
}

impl DemoKey {
    /// Returns true if a customer uses it, with some models and from some addresses only.
    pub(super) fn is_customer(&self) -> bool {
        self.name.starts_with("Northwind")
    }

    /// Returns true if the key is used in this hour of the demo.
    pub(super) const fn is_used_at(&self, hour: i64) -> bool {
        let last = match self.final_state {
            FinalState::Enabled | FinalState::NearlySpent => DAYS * 24,
            FinalState::Exhausted | FinalState::Disabled | FinalState::Locked => (DAYS - 4) * 24,
            FinalState::Expires(days) => (DAYS + days) * 24 - 1,
        };
        self.first_day * 24 <= hour && hour < last
    }
}

const fn key(
    owner: &'static str,
    name: &'static str,
    first_day: i64,
    dollars: Option<i64>,
    requests_per_day: i64,
    models: &'static [Model],
    final_state: FinalState,
) -> DemoKey {
    DemoKey { owner, name, group: "", first_day, dollars, requests_per_day, models, final_state }
}

impl DemoKey {
    const fn in_group(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }
}

/// In the order in which they are created.
pub(super) const KEYS: [DemoKey; 19] = [
    key("ana", "Old laptop", 0, Some(20), 12, &[SMALL], FinalState::Disabled),
    key("ana", "Batch embeddings", 0, None, 260, &[EMBEDDING], FinalState::Enabled).in_group("batch"),
    key("ana", "Documentation search", 0, Some(30), 140, &[EMBEDDING, SMALL], FinalState::Enabled),
    key("ana", "Production chat", 0, Some(400), 420, &[LARGE, LARGE, SMALL, LONG], FinalState::Enabled),
    key("ben", "Notebook", 0, Some(25), 30, &[LARGE], FinalState::Enabled),
    key("ben", "Thesis experiments", 0, None, 70, &[LONG, SMALL], FinalState::Enabled),
    key("dora", "Website", 0, Some(10), 20, &[SMALL], FinalState::Enabled),
    key("ana", "Nightly evaluation", 9, Some(60), 90, &[LARGE], FinalState::Exhausted).in_group("batch"),
    key("ana", "Support assistant", 15, Some(250), 150, &[LONG], FinalState::NearlySpent),
    key("hana", "Storefront", 18, Some(120), 160, &[SMALL, LARGE], FinalState::Enabled),
    key("dora", "Translation", 26, Some(90), 120, &[LARGE, SMALL], FinalState::Enabled),
    key("ana", "Northwind (customer)", 33, Some(150), 80, &[LARGE, SMALL], FinalState::Enabled),
    key("hana", "Product descriptions", 40, Some(60), 60, &[SMALL], FinalState::Enabled).in_group("batch"),
    key("ana", "Mobile app beta", 50, Some(60), 110, &[SMALL, LARGE], FinalState::Expires(3)),
    key("ben", "Shared with a contractor", 55, Some(15), 25, &[SMALL], FinalState::Locked),
    key("ben", "Tutorial", 60, Some(5), 6, &[SMALL], FinalState::Expires(5)),
    key("ana", "Hackathon", 80, Some(40), 60, &[LARGE, SMALL], FinalState::Expires(-2)),
    key("hana", "Load test", 84, Some(5), 0, &[SMALL], FinalState::Enabled),
    key("ana", "Prototype", 87, Some(5), 0, &[SMALL], FinalState::Enabled),
];
