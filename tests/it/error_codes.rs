//! Error codes: `docs/errors.md` lists them all, and each has a test that sees it.

use std::fmt::Write as _;
use std::fs;

use keymeter::api::errors::code::ErrorCode;

use crate::harness::project::project;

const PAGE: &str = "docs/errors.md";

const INTRO: &str = "\
# Errors

Every failure has this body:

```json
{\"success\": false, \"message\": \"one sentence that says what to do\", \"error\": \"stable_code\"}
```

`GET /api/usage/token/` and `GET /api/usage/token/daily` add `\"code\": false`. Decide by `error`, which never changes;
show `message` to people, which may change. The header `X-Error-Code` repeats `error`, for proxies. `X-Request-Id` names
the request in the log of the server. Below `/v1` and `/dashboard/billing`, the same code and sentence have the shape of the
OpenAI API: `{\"error\": {\"message\", \"type\", \"code\"}}`.

| Status | Meaning | Retry? |
|---|---|---|
| 400, 413 | The request is wrong. | No: correct it. |
| 401 | The credential is missing or not valid. | No: use another one. |
| 402 | Not enough quota. | No: add quota first. |
| 403 | The credential does not allow this. | No. |
| 404, 405 | No such path, object or method. | No. |
| 409 | The current state does not allow this. | No: read the state again. |
| 429 | Too many requests. | Yes, after the seconds in `Retry-After`; without it, no. |
| 500 | A defect. | No: report it with `X-Request-Id`. |
| 503 | The server cannot answer now. | Yes, after the seconds in `Retry-After`. |

Reading, deleting and enabling are safe to repeat. A charge is safe to repeat with the same `request_id`: it is never
charged twice. With the setting `http.errors_as_200`, failures of 400, 404 and 409 are answered with status 200 and the
same body, except below `/api/gateway` and for paths that do not exist.

The [OpenAPI document](../dashboard/openapi.json) lists for every operation the codes that it can answer.

| Code | Status | Meaning | What to do |
|---|---|---|---|
";

fn page() -> String {
    let mut page = INTRO.to_owned();
    for code in ErrorCode::ALL {
        let statuses: Vec<_> = code.statuses().iter().map(|status| status.as_str().to_owned()).collect();
        let (code, statuses, meaning, remedy) = (code.as_str(), statuses.join(", "), code.meaning(), code.remedy());
        writeln!(page, "| `{code}` | {statuses} | {meaning} | {remedy} |").unwrap();
    }
    page.push_str("\n<!-- Written by `make errors` from src/api/errors/code.rs. -->\n");
    page
}

/// `make errors` sets `KEYMETER_WRITE`.
#[test]
fn the_page_of_errors_is_written_from_the_codes() {
    let file = project().join(PAGE);
    if std::env::var_os("KEYMETER_WRITE").is_some() {
        fs::write(&file, page()).unwrap();
    }
    assert!(fs::read_to_string(file).unwrap_or_default() == page(), "{PAGE} is out of date; run `make errors`");
}

#[test]
fn every_code_is_seen_by_a_test() {
    let tests = project().join("tests/it");
    let files = fs::read_dir(tests).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let text: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let unseen: Vec<_> =
        ErrorCode::ALL.iter().filter(|code| !text.contains(&format!("\"{}\"", code.as_str()))).collect();
    assert!(unseen.is_empty(), "no test sees {unseen:?}");
}
