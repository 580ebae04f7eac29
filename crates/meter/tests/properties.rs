//! Whatever comes, and however it is cut: no panic, one outcome, and nothing that is free or above the hold by chance.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use keymeter_meter::answer_meter::{AnswerHead, AnswerMeter, Charge, End, Expected, Outcome};
use keymeter_meter::extractors::{Extractors, OWN_EXTRACTORS};
use keymeter_meter::picks::Pick;
use keymeter_meter::request::read_request;
use keymeter_meter::route::Route;
use keymeter_meter::settings::MeterSettings;
use proptest::prelude::*;

const ROUTES: [Route; 4] = [Route::Chat, Route::Responses, Route::Messages, Route::Embeddings];
const ENDS: [End; 4] = [End::Complete, End::Broken, End::Left, End::GivenUp];

fn outcome(route: Route, expected: Expected, pieces: &[&[u8]], end: End) -> Outcome {
    let mut extractors = Extractors::default();
    extractors.add_own(OWN_EXTRACTORS, |_| true).unwrap();
    let extractor = route.extractor(&MeterSettings::default(), &extractors).unwrap();
    let pick = Pick::of(extractor);
    let head = AnswerHead { status: 200, ..AnswerHead::default() };
    let mut meter = AnswerMeter::new(extractor, &pick, expected, head);
    for piece in pieces {
        meter.read(piece);
    }
    meter.end(end)
}

/// Pieces of answers and streams, right and wrong.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "data: ",
        "event: error",
        "\n\n",
        "\n",
        "\r",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"usage\"",
        "\"error\"",
        "null",
        "{\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}",
        "{\"usage\":{\"input_tokens\":9,\"output_tokens\":3}}",
        "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}",
        "{\"choices\":[{\"delta\":{\"content\":\"abc\"}}]}",
        "{\"delta\":\"abc\"}",
        "{\"choices\":null}",
        "\"",
        "\\",
        "7",
        "[DONE]",
        "\u{feff}",
        "é",
    ];
    prop_oneof![
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..20)
            .prop_map(|parts| parts.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

proptest! {
    #[test]
    fn an_answer_costs_the_same_wherever_it_is_cut(
        bytes in answer(),
        route in prop::sample::select(ROUTES.to_vec()),
        end in prop::sample::select(ENDS.to_vec()),
        shows_thinking in any::<bool>(),
        cut in 0_usize..200,
    ) {
        let expected = Expected { input: 50, output: 20, shows_thinking, is_uncounted: false };
        let whole = outcome(route, expected, &[&bytes], end);
        let (left, right) = bytes.split_at(cut.min(bytes.len()));
        prop_assert_eq!(&outcome(route, expected, &[left, right], end), &whole);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&outcome(route, expected, &single, end), &whole);
        // Free is only what failed before any output; what is counted has counts.
        match &whole.charge {
            Charge::Nothing => prop_assert!(whole.units.is_empty()),
            Charge::Units => prop_assert!(!whole.units.is_empty()),
            Charge::Hold | Charge::Told(_) => {}
        }
    }

    #[test]
    fn a_body_is_refused_or_held(bytes in answer(), route in prop::sample::select(ROUTES.to_vec())) {
        let settings = MeterSettings::default();
        match read_request(route, &bytes, None, &settings) {
            Ok(request) => prop_assert!(request.hold.contains_key("input_tokens")),
            Err(refusal) => prop_assert!(matches!(refusal.status, 400 | 403)),
        }
    }
}

/// 32 MB of anything are read in a time that grows with their size, not with its square: these would take minutes.
#[test]
fn large_bodies_and_answers_are_read_in_linear_time() {
    const SIZE: usize = 32 * 1024 * 1024;
    let settings = MeterSettings::default();
    let text =
        |content: &str| format!("{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"{content}\"}}]}}");
    let bodies = [
        "[]".repeat(SIZE / 2),
        "[".repeat(SIZE),
        format!("{{\"a\":{}", "[".repeat(SIZE)),
        format!("{{{}", "\"a\":1,".repeat(SIZE / 6)),
        "\"".repeat(SIZE),
        text(&"x".repeat(SIZE)),
        text(&"\\u0041".repeat(SIZE / 6)),
    ];
    for body in &bodies {
        let read = read_request(Route::Chat, body.as_bytes(), None, &settings);
        assert_eq!(read.is_ok(), body.starts_with("{\"model\""));
    }
    let expected = Expected { input: 50, output: 20, shows_thinking: false, is_uncounted: false };
    let usage = "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}";
    let answers = [
        (format!("{{\"data\":[{}0],{usage}}}", "0.125,".repeat(SIZE / 6)), true),
        (format!("{{\"a\":\"{}\",{usage}}}", "x".repeat(SIZE)), true),
        (format!("data: {{\"a\":\"{}\",{usage}}}\n\n", "x".repeat(SIZE)), true),
        (format!("{}data: {{{usage}}}\n\n", "\n".repeat(SIZE)), true),
        (format!("{}data: {{{usage}}}\n\n", "data\n".repeat(SIZE / 5)), true),
        ("[".repeat(SIZE), false),
        ("\"".repeat(SIZE), false),
        ("data: {\"usage\":{\"prompt_tokens\":".repeat(SIZE / 33), false),
    ];
    for (answer, is_counted) in &answers {
        let pieces: Vec<&[u8]> = answer.as_bytes().chunks(16_384).collect();
        let outcome = outcome(Route::Chat, expected, &pieces, End::Complete);
        assert_eq!(outcome.charge == Charge::Units, *is_counted, "{}", &answer[..40]);
    }
}
