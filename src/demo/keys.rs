//! The keys of the demo, their models and prices.

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

/// The state of a key at the end of the demo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalState {
    Enabled,
    /// What remains is a twelfth of what was used.
    NearlySpent,
    Exhausted,
    /// Expires this number of days after now; before now if negative.
    Expires(i64),
    Disabled,
}

pub(super) struct DemoKey {
    pub(super) owner: &'static str,
    pub(super) name: &'static str,
    /// Its quota; `None` for an unlimited token.
    pub(super) dollars: Option<i64>,
    pub(super) requests_per_day: i64,
    pub(super) models: &'static [Model],
    pub(super) final_state: FinalState,
}

const fn key(
    owner: &'static str,
    name: &'static str,
    dollars: Option<i64>,
    requests_per_day: i64,
    models: &'static [Model],
    final_state: FinalState,
) -> DemoKey {
    DemoKey { owner, name, dollars, requests_per_day, models, final_state }
}

pub(super) const KEYS: [DemoKey; 15] = [
    key("ana", "Prototype", Some(5), 0, &[SMALL], FinalState::Enabled),
    key("ana", "Old laptop", Some(20), 12, &[SMALL], FinalState::Disabled),
    key("ana", "Hackathon", Some(40), 60, &[LARGE, SMALL], FinalState::Expires(-2)),
    key("ana", "Nightly evaluation", Some(40), 90, &[LARGE], FinalState::Exhausted),
    key("ana", "Batch embeddings", None, 260, &[EMBEDDING], FinalState::Enabled),
    key("ana", "Mobile app beta", Some(60), 110, &[SMALL, LARGE], FinalState::Expires(3)),
    key("ana", "Support assistant", Some(200), 150, &[LONG], FinalState::NearlySpent),
    key("ana", "Northwind (customer)", Some(150), 80, &[LARGE, SMALL], FinalState::Enabled),
    key("ana", "Documentation search", Some(30), 140, &[EMBEDDING, SMALL], FinalState::Enabled),
    key("ana", "Production chat", Some(400), 420, &[LARGE, LARGE, SMALL, LONG], FinalState::Enabled),
    key("ben", "Notebook", Some(25), 30, &[LARGE], FinalState::Enabled),
    key("ben", "Thesis experiments", None, 70, &[LONG, SMALL], FinalState::Enabled),
    key("ben", "Tutorial", Some(5), 6, &[SMALL], FinalState::Expires(5)),
    key("dora", "Translation", Some(90), 120, &[LARGE, SMALL], FinalState::Enabled),
    key("dora", "Website", Some(10), 20, &[SMALL], FinalState::Enabled),
];
