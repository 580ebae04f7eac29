//! `keymeter-envoy` as other clients of its protocol speak it, without a proxy: both ways of bodies, cut anywhere;
//! messages in any order; and what each end of a request costs, on a real Keymeter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use keymeter_door::door::Door;
use keymeter_envoy::messages::{
    BodySendMode, EnvoyHeader, EnvoyHeaders, HttpBody, HttpHeaders, HttpTrailers, MutatedBody, ProcessingRequest,
    ProcessingResponse, ProtocolConfiguration, RequestPart, ResponsePart,
};
use keymeter_envoy::processor::Processor;
use keymeter_envoy::settings::{OnSilence, default_options};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use sqlx::PgPool;
use tokio::sync::watch;

use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::metering::{Keymeter, QUOTA};
use crate::harness::wait::eventually;

struct World {
    keymeter: Keymeter,
    processor: Processor,
    pool: PgPool,
    cut: watch::Sender<bool>,
}

/// What a client of the protocol got.
#[derive(Debug)]
struct Got {
    replies: Vec<ResponsePart>,
    /// It ended without an error.
    is_ok: bool,
    /// It ended before its client did.
    is_first: bool,
}

impl World {
    async fn start(pool: PgPool) -> Self {
        let keymeter = Keymeter::start(&pool).await;
        let door = Arc::new(Door::new(&keymeter.door(default_options())).unwrap());
        door.start();
        eventually("it is known how answers are read", async || door.extractors.newest().is_some()).await;
        let (cut, is_cut) = watch::channel(false);
        let processor = Processor { door, on_silence: OnSilence::Charge, pass_headers: Arc::default(), cut: is_cut };
        Self { keymeter, processor, pool, cut }
    }

    /// Sends messages, and reads what they are answered until the processor ends it, or is silent for a moment; then
    /// the client ends it.
    async fn ask(&self, messages: Vec<ProcessingRequest>) -> Got {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        let stream =
            futures_util::stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
        let mut answers = self.processor.answer(Box::pin(stream));
        for message in messages {
            sender.send(Ok(message)).unwrap();
        }
        let mut got = Got { replies: Vec::new(), is_ok: true, is_first: false };
        let mut sender = Some(sender);
        loop {
            let patience = Duration::from_millis(if sender.is_some() { 150 } else { 20_000 });
            match tokio::time::timeout(patience, answers.next()).await {
                Ok(Some(Ok(ProcessingResponse { response, .. }))) => got.replies.push(response.unwrap()),
                Ok(Some(Err(_))) => got.is_ok = false,
                Ok(None) => return Got { is_first: sender.is_some(), ..got },
                Err(_) => assert!(sender.take().is_some(), "the processor ends what its client has ended"),
            }
        }
    }

    /// What was charged, as soon as nothing is held.
    async fn charged(&self, id: i64) -> i64 {
        let open = "select count(*) from reservations where state = 'open'";
        eventually("nothing is held", async || {
            let (_, unsent) = self.processor.door.settlements.counts();
            unsent == 0 && sqlx::query_scalar::<_, i64>(open).fetch_one(&self.pool).await.unwrap() == 0
        })
        .await;
        QUOTA - self.keymeter.remain(id).await
    }
}

const BOTH: [(BodySendMode, BodySendMode); 2] = [
    (BodySendMode::Buffered, BodySendMode::Streamed),
    (BodySendMode::FullDuplexStreamed, BodySendMode::FullDuplexStreamed),
];

fn message(part: RequestPart) -> ProcessingRequest {
    ProcessingRequest { request: Some(part), ..ProcessingRequest::default() }
}

fn headers(pairs: &[(&str, &str)]) -> HttpHeaders {
    let header = |(key, value): &(&str, &str)| EnvoyHeader {
        key: (*key).to_owned(),
        value: String::new(),
        raw_value: (*value).to_owned().into(),
    };
    HttpHeaders { headers: Some(EnvoyHeaders { headers: pairs.iter().map(header).collect() }), end_of_stream: false }
}

fn attributes(name: &str, value: &str) -> BTreeMap<String, prost_types::Struct> {
    let kind = Some(prost_types::value::Kind::StringValue(value.to_owned()));
    let fields = [(name.to_owned(), prost_types::Value { kind })].into();
    [("a filter".to_owned(), prost_types::Struct { fields })].into()
}

fn request_head(key: &str, (request, response): (BodySendMode, BodySendMode)) -> ProcessingRequest {
    let authorization = format!("Bearer {key}");
    let path = [(":method", "POST"), (":path", "/v1/chat/completions"), ("authorization", &authorization)];
    ProcessingRequest {
        request: Some(RequestPart::RequestHeaders(headers(&path))),
        attributes: attributes("source.address", "192.0.2.1:4711"),
        protocol_config: Some(ProtocolConfiguration {
            request_body_mode: request.into(),
            response_body_mode: response.into(),
        }),
    }
}

fn answer_head(status: &str) -> ProcessingRequest {
    message(RequestPart::ResponseHeaders(headers(&[(":status", status)])))
}

fn request_body(body: &[u8], end_of_stream: bool) -> ProcessingRequest {
    message(RequestPart::RequestBody(HttpBody { body: body.to_vec().into(), end_of_stream }))
}

fn answer_body(body: &[u8], end_of_stream: bool) -> ProcessingRequest {
    message(RequestPart::ResponseBody(HttpBody { body: body.to_vec().into(), end_of_stream }))
}

/// A body, cut at random places.
fn cut(body: &[u8], rng: &mut StdRng, piece: impl Fn(&[u8], bool) -> ProcessingRequest) -> Vec<ProcessingRequest> {
    let mut places: Vec<usize> = (0..rng.random_range(0..6)).map(|_| rng.random_range(0..=body.len())).collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    let pieces: Vec<_> = places.windows(2).map(|ends| &body[ends[0]..ends[1]]).collect();
    let last = pieces.len() - 1;
    pieces.into_iter().enumerate().map(|(at, bytes)| piece(bytes, at == last)).collect()
}

fn chat() -> Vec<u8> {
    let messages = json!([{ "role": "user", "content": "hello" }]);
    json!({ "model": "m", "messages": messages, "max_tokens": 100, "stream": true }).to_string().into_bytes()
}

/// 150 quota units, by the prices of the tests.
const ANSWER: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":10}}\n\ndata: [DONE]\n\n";
const COST: i64 = 150;

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn wherever_bodies_are_cut_the_same_bytes_pass_and_the_same_is_charged(pool: PgPool) {
    let world = World::start(pool).await;
    let mut rng = StdRng::seed_from_u64(11);
    for modes in BOTH.into_iter().cycle().take(40) {
        let (id, key) = world.keymeter.key(QUOTA).await;
        let is_duplex = modes.0 == BodySendMode::FullDuplexStreamed;
        let mut messages = vec![request_head(&key, modes)];
        let has_trailers = is_duplex && rng.random_bool(0.3);
        let mut body = if is_duplex { cut(&chat(), &mut rng, request_body) } else { vec![request_body(&chat(), true)] };
        if has_trailers {
            body.push(message(RequestPart::RequestTrailers(HttpTrailers {})));
        }
        messages.extend(body);
        messages.push(answer_head("200"));
        messages.extend(cut(ANSWER, &mut rng, answer_body));
        let got = world.ask(messages).await;
        assert!(got.is_ok, "{got:?}");
        let (mut sent, mut answered, mut length) = (Vec::new(), Vec::new(), None);
        for part in got.replies {
            let (common, bytes) = match part {
                ResponsePart::RequestHeaders(common) | ResponsePart::RequestBody(common) => (common, &mut sent),
                ResponsePart::ResponseBody(common) => (common, &mut answered),
                _ => continue,
            };
            let response = common.response.unwrap_or_default();
            let set = response.header_mutation.unwrap_or_default().set_headers;
            let header = |name: &str| set.iter().filter_map(|one| one.header.clone()).find(|header| header.key == name);
            length = length.or_else(|| header("content-length"));
            match response.body_mutation.and_then(|body| body.mutation) {
                Some(MutatedBody::Body(body)) => bytes.extend_from_slice(&body),
                Some(MutatedBody::StreamedResponse(piece)) => bytes.extend_from_slice(&piece.body),
                None => {}
            }
        }
        let sent: serde_json::Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(sent["stream_options"], json!({ "include_usage": true }));
        assert_eq!(length.is_some(), !is_duplex, "a body that is changed has its own length");
        assert_eq!(answered, if is_duplex { ANSWER } else { b"" });
        assert_eq!(world.charged(id).await, COST);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn no_order_of_messages_ends_well_before_the_request_or_leaves_a_hold(pool: PgPool) {
    let world = World::start(pool).await;
    let mut rng = StdRng::seed_from_u64(12);
    let (id, key) = world.keymeter.key(QUOTA).await;
    for round in 0..150 {
        let modes = BOTH[round % 2];
        let mut messages = vec![request_head(&key, modes)];
        messages.extend(cut(&chat(), &mut rng, request_body));
        messages.push(message(RequestPart::RequestTrailers(HttpTrailers {})));
        messages.push(answer_head("200"));
        messages.extend(cut(ANSWER, &mut rng, answer_body));
        messages.push(message(RequestPart::ResponseTrailers(HttpTrailers {})));
        // Of an unknown kind.
        messages.push(ProcessingRequest::default());
        if rng.random_bool(0.5) {
            messages.shuffle(&mut rng);
        } else {
            let at = rng.random_range(0..messages.len());
            messages.remove(at);
            messages.truncate(rng.random_range(0..=messages.len()));
        }
        let shown = format!("{messages:?}");
        let got = world.ask(messages).await;
        // A proxy would send the rest past the processor. One that is refused sends none.
        let is_refused = matches!(got.replies.last(), Some(ResponsePart::ImmediateResponse(_)));
        assert!(!(got.is_ok && got.is_first) || is_refused, "{shown}: {got:?}");
    }
    // Each was settled once, or held nothing.
    world.charged(id).await;
    assert_ledger_invariants(&world.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_end_of_a_request_costs_what_the_upstream_may_bill(pool: PgPool) {
    let mut world = World::start(pool).await;
    let (hold_id, key) = world.keymeter.key(QUOTA).await;
    // What silence costs is what is held.
    world.ask(vec![request_head(&key, BOTH[0]), request_body(&chat(), true)]).await;
    let hold = world.charged(hold_id).await;
    assert!(hold > COST);
    let details = |status: &str, details: &str| ProcessingRequest {
        attributes: attributes("response.code_details", details),
        ..answer_head(status)
    };
    let reset = "upstream_reset_before_response_started{connection_failure}";
    let table: [(&str, Vec<ProcessingRequest>, i64); 8] = [
        ("the proxy gave up", vec![details("504", "response_timeout")], hold),
        ("and does not say so", vec![answer_head("504")], hold),
        ("the upstream says 504", vec![details("504", "via_upstream")], 0),
        ("it was not reached", vec![details("503", reset)], 0),
        ("there is no upstream", vec![details("503", "no_healthy_upstream")], 0),
        ("it refuses", vec![details("429", "via_upstream"), answer_body(b"{}", true)], 0),
        ("it breaks", vec![details("200", "via_upstream"), answer_body(&ANSWER[..60], false)], hold),
        ("it has an empty answer", vec![answer_head("200"), answer_body(b"", true)], hold),
    ];
    for (about, rest, expected) in table {
        let (id, key) = world.keymeter.key(QUOTA).await;
        let begin = vec![request_head(&key, BOTH[0]), request_body(&chat(), true)];
        world.ask([begin, rest].concat()).await;
        assert_eq!(world.charged(id).await, expected, "{about}");
    }
    world.processor.on_silence = OnSilence::Release;
    let (id, key) = world.keymeter.key(QUOTA).await;
    world.ask(vec![request_head(&key, BOTH[0]), request_body(&chat(), true)]).await;
    assert_eq!(world.charged(id).await, 0, "clients are trusted");
    // Another filter answered, before anything was asked here.
    let mut elsewhere = answer_head("401");
    elsewhere.protocol_config = request_head(&key, BOTH[0]).protocol_config;
    let got = world.ask(vec![elsewhere, answer_body(b"{}", true)]).await;
    assert!(got.is_ok && got.replies.len() == 2, "{got:?}");
    assert_eq!(world.charged(id).await, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_cannot_be_metered_is_refused_and_a_cut_is_an_error(pool: PgPool) {
    use BodySendMode::{Buffered, BufferedPartial, None as NoBody, Streamed};

    let world = World::start(pool).await;
    let (id, key) = world.keymeter.key(QUOTA).await;
    let refused = |got: &Got| match got.replies.last() {
        Some(ResponsePart::ImmediateResponse(response)) => (response.status.unwrap().code, response.details.clone()),
        other => panic!("{other:?}"),
    };
    for modes in [(NoBody, Streamed), (Streamed, Streamed), (BufferedPartial, Streamed), (Buffered, NoBody)] {
        let got = world.ask(vec![request_head(&key, modes)]).await;
        assert_eq!(refused(&got), (500, "keymeter_misconfigured".to_owned()), "{modes:?}");
    }
    let mut without = request_head(&key, BOTH[0]);
    without.protocol_config = None;
    assert_eq!(refused(&world.ask(vec![without]).await).0, 500);
    // Sent on before it was let through: without its body, or with headers that nobody saw.
    let passed =
        ProcessingRequest { attributes: attributes("response.code_details", "via_upstream"), ..answer_head("200") };
    let got = world.ask(vec![request_head(&key, BOTH[0]), passed.clone(), answer_body(b"{}", true)]).await;
    assert!(!got.is_ok && !got.replies.iter().any(|part| matches!(part, ResponsePart::ResponseHeaders(_))), "{got:?}");
    let mut first = request_body(&chat(), true);
    first.protocol_config = request_head(&key, BOTH[0]).protocol_config;
    assert_eq!(refused(&world.ask(vec![first, passed]).await), (500, "keymeter_misconfigured".to_owned()));
    for (header, value) in [("content-length", "0"), (":method", "GET")] {
        let mut head = request_head(&key, BOTH[0]);
        if let Some(RequestPart::RequestHeaders(HttpHeaders { headers: Some(headers), .. })) = &mut head.request {
            let path = if header == ":method" { "/v1/models" } else { "/v1/chat/completions" };
            headers.headers.retain(|one| one.key != header && one.key != ":path");
            for (key, value) in [(header, value), (":path", path)] {
                let raw_value = value.to_owned().into();
                headers.headers.push(EnvoyHeader { key: key.to_owned(), value: String::new(), raw_value });
            }
        }
        assert_eq!(refused(&world.ask(vec![head]).await).0, 400, "{header}");
    }
    let mut nobody = request_head(&key, BOTH[0]);
    nobody.attributes.clear();
    assert_eq!(refused(&world.ask(vec![nobody]).await).0, 500);
    let got = world.ask(vec![request_head("sk-none", BOTH[0]), request_body(&chat(), true)]).await;
    assert_eq!(refused(&got), (401, "keymeter_invalid_api_key".to_owned()));
    world.cut.send_replace(true);
    let got = world.ask(vec![request_head(&key, BOTH[0]), request_body(&chat(), true)]).await;
    assert!(!got.is_ok, "{got:?}");
    assert_eq!(world.charged(id).await, 0);
}
