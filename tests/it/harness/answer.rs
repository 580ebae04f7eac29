//! What a call returns, and what tests assert about it.

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

/// A refusal: its status, its code and its message.
pub type Refusal = (u16, &'static str, &'static str);

/// A response, with its body as text.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {:?}", self.text))
    }

    /// Asserts 200 and `success`, and returns `data` (`null` if there is none).
    #[track_caller]
    pub fn ok(&self) -> Value {
        let body = self.json();
        assert_eq!(self.status, StatusCode::OK, "{body}");
        assert!(body["success"] == json!(true) || body["code"] == json!(true), "{body}");
        body["data"].clone()
    }

    /// Asserts a failure of this status and code, in the envelope of specification §7.1.
    #[track_caller]
    pub fn refuses(&self, status: u16, error: &str) {
        let body = self.json();
        assert_eq!((self.status.as_u16(), body["error"].as_str()), (status, Some(error)), "{body}");
        assert_eq!(body["success"], json!(false), "{body}");
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    }

    /// Asserts a failure in the shape of the OpenAI API.
    #[track_caller]
    pub fn is_openai_failure(&self, status: u16, kind: &str, code: &str, message: &str) {
        let error = json!({ "message": message, "type": kind, "code": code });
        assert_eq!((self.status.as_u16(), self.json()), (status, json!({ "error": error })));
        assert_eq!(self.header("x-error-code"), Some(code));
    }

    /// The code of a failure, in either of its shapes.
    pub fn error_code(&self) -> Option<&str> {
        self.header("x-error-code")
    }

    /// Asserts a failure with exactly this message.
    #[track_caller]
    pub fn refuses_saying(&self, status: u16, error: &str, message: &str) {
        self.refuses(status, error);
        assert_eq!(self.json()["message"], message);
    }

    /// Asserts exactly this refusal.
    #[track_caller]
    pub fn is(&self, (status, error, message): Refusal) {
        self.refuses_saying(status, error, message);
    }

    /// The value of this header, if it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
