//! Which values of an answer are kept: those that an extractor's paths name, and those that tell a failure.

use std::collections::BTreeMap;

use crate::extractor::{Extractor, MappingSource};
use crate::value_path::Step;

/// What is kept of a value, and of what is inside of it.
#[derive(Debug, Clone, Default)]
pub struct Pick {
    members: BTreeMap<String, Pick>,
    items: Option<Box<Pick>>,
    /// All that is inside is kept.
    keeps_all: bool,
    /// Text that is inside is output of the model.
    is_output: bool,
}

/// Where in an event the answer may be.
const PLACES: [&[&str]; 4] = [&[], &["response"], &["message"], &["x_groq"]];

impl Pick {
    /// What is kept of answers and events that this extractor reads.
    pub fn of(extractor: &Extractor) -> Self {
        let mut all = Self::default();
        for place in PLACES {
            let place = place.iter().fold(&mut all, |pick, name| pick.enter_member(name));
            place.add(extractor);
            place.enter_member("error");
        }
        let choice = all.enter_member("choices").enter_item();
        choice.add(extractor);
        for name in ["delta", "message", "text"] {
            choice.enter_member(name).is_output = true;
        }
        // `content` and `output` are of whole answers: the last event of a stream repeats them in `response`.
        for name in ["delta", "content", "output"] {
            all.enter_member(name).is_output = true;
        }
        all.enter_member("choices").enter_item().enter_member("finish_reason");
        all.enter_member("delta").enter_member("stop_reason");
        all.enter_member("type");
        all
    }

    fn add(&mut self, extractor: &Extractor) {
        self.enter(extractor.root.steps()).keeps_all = true;
        self.enter(extractor.model_path.steps());
        for path in extractor.context.values() {
            self.enter(path.steps());
        }
        for mapping in &extractor.mappings {
            if let MappingSource::Count(rule) = &mapping.source {
                self.enter(rule.path.steps()).enter_item().enter_member(rule.item.field());
            }
        }
    }

    fn enter(&mut self, steps: &[Step]) -> &mut Self {
        steps.iter().fold(self, |pick, step| match step {
            Step::Member(name) => pick.enter_member(name),
            Step::Item(item) => {
                let pick = pick.enter_item();
                pick.enter_member(item.field());
                pick
            }
        })
    }

    fn enter_member(&mut self, name: &str) -> &mut Self {
        self.members.entry(name.to_owned()).or_default()
    }

    fn enter_item(&mut self) -> &mut Self {
        self.items.get_or_insert_default()
    }
}

/// What is kept at a place of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Picked<'p> {
    /// `None` if no path leads here.
    pick: Option<&'p Pick>,
    keeps_all: bool,
    is_output: bool,
}

impl<'p> Picked<'p> {
    /// The whole answer.
    pub const fn whole(pick: &'p Pick) -> Self {
        Self { pick: Some(pick), keeps_all: pick.keeps_all, is_output: pick.is_output }
    }

    /// The value of a member of it; `None` of one whose name is too long to be known.
    pub fn member(self, name: Option<&str>) -> Self {
        self.inside(name.and_then(|name| self.pick?.members.get(name)))
    }

    /// An item of it.
    pub fn item(self) -> Self {
        self.inside(self.pick.and_then(|pick| pick.items.as_deref()))
    }

    fn inside(self, pick: Option<&'p Pick>) -> Self {
        Self {
            pick,
            keeps_all: self.keeps_all || pick.is_some_and(|pick| pick.keeps_all),
            is_output: self.is_output || pick.is_some_and(|pick| pick.is_output),
        }
    }

    pub const fn is_kept(self) -> bool {
        self.pick.is_some() || self.keeps_all
    }

    /// Returns true if text here, or inside, is output of the model.
    pub const fn is_output(self) -> bool {
        self.is_output
    }
}
