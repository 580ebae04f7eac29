//! The head of an answer, as the meter takes it.

use http::{HeaderMap, StatusCode};
use keymeter_meter::answer_meter::AnswerHead;

/// The header by which a gateway of the same name tells a cost in dollars.
const TOLD_COST: &str = "x-litellm-response-cost";

/// The head of an answer. A header that tells a cost was sent before a stream could cost anything.
pub fn answer_head(status: StatusCode, headers: &HeaderMap, is_stream: bool) -> AnswerHead<'_> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    AnswerHead {
        status: status.as_u16(),
        content_encoding: text("content-encoding"),
        told_usd: text(TOLD_COST).filter(|_| !is_stream),
    }
}
