//! The cases of `cases/`: a request, what is held for it or why it is refused, an answer, and what that costs.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use keymeter_meter::answer_meter::{AnswerHead, AnswerMeter, Charge, End, Outcome};
use keymeter_meter::extractors::{Extractors, OWN_EXTRACTORS};
use keymeter_meter::picks::Pick;
use keymeter_meter::refusal::MeterRefusal;
use keymeter_meter::request::{MeteredRequest, check_betas, read_request};
use keymeter_meter::route::Route;
use keymeter_meter::settings::MeterSettings;
use serde::Deserialize;
use serde_json::{Value, json};

/// One situation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    #[serde(default)]
    settings: MeterSettings,
    request: Request,
    refused: Option<Refused>,
    hold: Option<BTreeMap<String, u64>>,
    #[serde(default)]
    context: BTreeMap<String, String>,
    /// The body that the upstream gets, if it is another one.
    sent: Option<Value>,
    answer: Option<Answer>,
    charged: Option<Value>,
    /// The context of the answer.
    #[serde(default)]
    served: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    #[serde(default = "post")]
    method: String,
    path: String,
    /// The value of `anthropic-beta`.
    betas: Option<String>,
    body: Option<Value>,
    /// The body as it is, where it is no JSON or an ambiguous one.
    text: Option<String>,
}

fn post() -> String {
    "POST".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    status: u16,
    code: String,
    /// A part of the sentence.
    says: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default = "ok")]
    status: u16,
    encoding: Option<String>,
    told_usd: Option<String>,
    /// A whole answer.
    body: Option<Value>,
    /// The events of a stream; a text is sent as it is.
    events: Option<Vec<Value>>,
    text: Option<String>,
    #[serde(default = "complete")]
    end: String,
}

const fn ok() -> u16 {
    200
}

fn complete() -> String {
    "complete".to_owned()
}

impl Answer {
    fn bytes(&self) -> Vec<u8> {
        let event = |event: &Value| event.as_str().map_or_else(|| format!("data: {event}\n\n"), str::to_owned);
        let whole = self.body.as_ref().map(Value::to_string);
        let events = self.events.as_ref().map(|events| events.iter().map(event).collect());
        whole.or(events).or_else(|| self.text.clone()).unwrap_or_default().into_bytes()
    }

    fn end(&self) -> End {
        match self.end.as_str() {
            "complete" => End::Complete,
            "broken" => End::Broken,
            "left" => End::Left,
            "given_up" => End::GivenUp,
            other => panic!("no such end: {other}"),
        }
    }
}

fn extractors() -> Extractors {
    let mut extractors = Extractors::default();
    extractors.add_own(OWN_EXTRACTORS, |_| true).unwrap();
    extractors
}

fn read(case: &Case, extractors: &Extractors) -> Result<MeteredRequest, MeterRefusal> {
    let Request { method, path, betas, body, text } = &case.request;
    let route = Route::find(method, path).expect("a route");
    if let Some(betas) = betas {
        check_betas(betas, &case.settings)?;
    }
    let text = text.clone().or_else(|| body.as_ref().map(Value::to_string)).unwrap_or_default();
    read_request(route, text.as_bytes(), route.extractor(&case.settings, extractors), &case.settings)
}

/// What an answer in pieces of so many bytes costs.
fn outcome(case: &Case, answer: &Answer, request: &MeteredRequest, extractors: &Extractors, size: usize) -> Outcome {
    let route = Route::find(&case.request.method, &case.request.path).unwrap();
    let extractor = route.extractor(&case.settings, extractors).unwrap();
    let pick = Pick::of(extractor);
    let (content_encoding, told_usd) = (answer.encoding.as_deref(), answer.told_usd.as_deref());
    let head = AnswerHead { status: answer.status, content_encoding, told_usd };
    let mut meter = AnswerMeter::new(extractor, &pick, request.expected, head);
    answer.bytes().chunks(size).for_each(|piece| meter.read(piece));
    meter.end(answer.end())
}

/// As a case has it.
fn shown(outcome: &Outcome) -> Value {
    let number = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let units = outcome.units.iter().map(|(unit, count)| (unit.clone(), number(count.to_string())));
    let units = Value::Object(units.collect());
    match &outcome.charge {
        Charge::Nothing => json!("nothing"),
        Charge::Hold => json!("hold"),
        Charge::Units => units,
        Charge::Told(dollars) => json!({ "usd": dollars.to_string(), "units": units }),
    }
}

fn check(case: &Case) {
    let extractors = extractors();
    let read = read(case, &extractors);
    if let Some(Refused { status, code, says }) = &case.refused {
        let refusal = read.expect_err("it is refused");
        assert_eq!((refusal.status, refusal.code), (*status, code.as_str()), "{refusal}");
        assert!(refusal.message.contains(says.as_str()), "{refusal}");
        return;
    }
    let request = read.unwrap();
    if let Some(hold) = &case.hold {
        let held: BTreeMap<_, _> = request.hold.iter().map(|(unit, count)| ((*unit).to_owned(), *count)).collect();
        assert_eq!(&held, hold);
    }
    assert_eq!(request.context, case.context);
    let sent = request.body.as_ref().map(|body| serde_json::from_slice::<Value>(body).unwrap());
    assert_eq!(sent, case.sent);
    let Some(answer) = &case.answer else { return };
    let whole = outcome(case, answer, &request, &extractors, usize::MAX);
    assert_eq!(shown(&whole), *case.charged.as_ref().unwrap(), "{}", whole.why);
    assert_eq!(whole.context, case.served);
    for size in [1, 3, 7, 64] {
        assert_eq!(outcome(case, answer, &request, &extractors, size), whole, "in pieces of {size} bytes");
    }
}

#[test]
fn each_case_is_what_it_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 40, "{} cases", files.len());
    let mut failed = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let case: Case = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        println!("{}: {}", file.file_stem().unwrap().to_string_lossy(), case.about);
        failed += u32::from(std::panic::catch_unwind(|| check(&case)).is_err());
    }
    assert_eq!(failed, 0, "cases failed");
}
