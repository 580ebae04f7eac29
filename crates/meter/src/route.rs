//! What is served: routes, the members that their bodies may have, and how their answers are read.

use crate::extractor::Extractor;
use crate::extractors::Extractors;
use crate::settings::MeterSettings;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    Chat,
    Completions,
    Responses,
    Messages,
    CountTokens,
    Embeddings,
    Models,
    Model,
}

/// A route with a body.
struct Served {
    route: Route,
    path: &'static str,
    /// The members that limit the output. Where several are sent, the largest counts.
    output_limits: &'static [&'static str],
    /// All members that a body may have.
    members: &'static str,
}

const SERVED: [Served; 6] = [
    Served {
        route: Route::Chat,
        path: "/v1/chat/completions",
        output_limits: &["max_completion_tokens", "max_tokens"],
        members: "model messages stream stream_options n max_completion_tokens max_tokens temperature top_p top_k min_p \
            frequency_penalty presence_penalty repetition_penalty logit_bias logprobs top_logprobs stop seed \
            response_format tools tool_choice parallel_tool_calls functions function_call user metadata store \
            reasoning_effort reasoning thinking enable_thinking chat_template_kwargs verbosity prediction modalities \
            audio service_tier safety_identifier prompt_cache_key prompt_cache_retention web_search_options \
            include_reasoning reasoning_format thinking_budget usage session_id random_seed safe_prompt prompt_mode \
            stop_token_ids guided_json guided_regex guided_choice guided_grammar structured_outputs",
    },
    Served {
        route: Route::Completions,
        path: "/v1/completions",
        output_limits: &["max_tokens"],
        members: "model prompt suffix stream stream_options n best_of max_tokens temperature top_p top_k min_p \
            frequency_penalty presence_penalty repetition_penalty logit_bias logprobs echo stop seed user",
    },
    Served {
        route: Route::Responses,
        path: "/v1/responses",
        output_limits: &["max_output_tokens"],
        members: "model input instructions stream stream_options max_output_tokens max_tool_calls temperature top_p \
            tools tool_choice parallel_tool_calls reasoning text truncation include user metadata store background \
            service_tier safety_identifier prompt_cache_key prompt_cache_retention top_logprobs previous_response_id \
            conversation prompt client_metadata",
    },
    Served {
        route: Route::Messages,
        path: "/v1/messages",
        output_limits: &["max_tokens"],
        members: "model messages system stream max_tokens temperature top_p top_k stop_sequences metadata tools \
            tool_choice thinking service_tier speed cache_control output_config output_format context_management",
    },
    Served {
        route: Route::CountTokens,
        path: "/v1/messages/count_tokens",
        output_limits: &[],
        members: "model messages system tools tool_choice thinking speed cache_control output_config output_format \
            context_management",
    },
    Served {
        route: Route::Embeddings,
        path: "/v1/embeddings",
        output_limits: &[],
        members: "model input dimensions encoding_format user",
    },
];

/// The beginning of the path of one model.
const MODELS: &str = "/v1/models";

impl Route {
    /// The route of a method and a path as the client wrote it, without its query.
    pub fn find(method: &str, path: &str) -> Option<Self> {
        match method {
            "POST" => SERVED.iter().find(|served| served.path == path).map(|served| served.route),
            "GET" if path == MODELS => Some(Self::Models),
            "GET" => path.strip_prefix(MODELS)?.strip_prefix('/').filter(|name| is_name(name)).map(|_| Self::Model),
            _ => None,
        }
    }

    /// Returns true if nobody bills it. It needs a key that may be used, and nothing that is left.
    pub const fn is_free(self) -> bool {
        matches!(self, Self::CountTokens | Self::Models | Self::Model)
    }

    /// Returns true if its streams tell their usage only on request.
    pub const fn needs_include_usage(self) -> bool {
        matches!(self, Self::Chat | Self::Completions)
    }

    pub(crate) fn output_limits(self) -> &'static [&'static str] {
        self.served().map_or(&[], |served| served.output_limits)
    }

    /// The members that a body may have.
    pub(crate) fn members(self) -> impl Iterator<Item = &'static str> {
        self.served().map_or("", |served| served.members).split_ascii_whitespace()
    }

    fn served(self) -> Option<&'static Served> {
        SERVED.iter().find(|served| served.route == self)
    }

    /// How its answers are read, in the shape that the settings name; else in that of the API that others imitate.
    pub fn extractor<'e>(self, settings: &MeterSettings, extractors: &'e Extractors) -> Option<&'e Extractor> {
        let shape = settings.shape.as_str();
        let (flavors, imitated): (&[&str], _) = match self {
            Self::Chat | Self::Completions => (&["chat", "default"], ("openai", "chat")),
            Self::Responses => (&["responses"], ("openai", "responses")),
            Self::Messages if shape == "anthropic" => (&["default"], ("anthropic", "default")),
            Self::Messages => (&["anthropic"], ("anthropic", "default")),
            Self::Embeddings => (&["embeddings"], ("openai", "embeddings")),
            Self::CountTokens | Self::Models | Self::Model => return None,
        };
        let own = flavors.iter().find_map(|flavor| extractors.get(shape, flavor));
        own.or_else(|| extractors.get(imitated.0, imitated.1))
    }
}

/// Returns true if every server reads this part of a path as it is written: no escapes, and no segments of dots.
fn is_name(name: &str) -> bool {
    let is_segment = |segment: &str| !segment.is_empty() && segment.bytes().any(|byte| byte != b'.');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:@+/".contains(&byte);
    name.len() <= 128 && name.bytes().all(is_plain) && name.split('/').all(is_segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_metered_is_served() {
        let table = [
            ("POST", "/v1/chat/completions", Some(Route::Chat)),
            ("POST", "/v1/messages/count_tokens", Some(Route::CountTokens)),
            ("GET", "/v1/models", Some(Route::Models)),
            ("GET", "/v1/models/openai/gpt-5.5:free", Some(Route::Model)),
            ("GET", "/v1/models/", None),
            ("GET", "/v1/models/../chat", None),
            ("GET", "/v1/models/a/./b", None),
            ("GET", "/v1/models/a%2fb", None),
            ("GET", "/v1/models/a?b", None),
            ("DELETE", "/v1/models/a", None),
            ("GET", "/v1/chat/completions", None),
            ("POST", "/v1/chat/completions/", None),
            ("POST", "//v1/chat/completions", None),
            ("POST", "/v1/Chat/completions", None),
            ("POST", "/v1/files", None),
        ];
        for (method, path, expected) in table {
            assert_eq!(Route::find(method, path), expected, "{method} {path}");
        }
    }
}
