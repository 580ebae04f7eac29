//! The messages of `envoy.service.ext_proc.v3`, as far as they are used: fields of other numbers are skipped. Generated
//! types of all of Envoy would be a hundred times as long as this program.

use std::collections::BTreeMap;

use prost::bytes::Bytes;
use prost::{Enumeration, Message, Oneof};
use prost_types::Struct;

/// What a proxy sends.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessingRequest {
    #[prost(oneof = "RequestPart", tags = "2, 3, 4, 5, 6, 7")]
    pub request: Option<RequestPart>,
    /// Values that the proxy is told to send, by the name of their filter.
    #[prost(btree_map = "string, message", tag = "9")]
    pub attributes: BTreeMap<String, Struct>,
    /// Only in the first message.
    #[prost(message, optional, tag = "11")]
    pub protocol_config: Option<ProtocolConfiguration>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum RequestPart {
    #[prost(message, tag = "2")]
    RequestHeaders(HttpHeaders),
    #[prost(message, tag = "3")]
    ResponseHeaders(HttpHeaders),
    #[prost(message, tag = "4")]
    RequestBody(HttpBody),
    #[prost(message, tag = "5")]
    ResponseBody(HttpBody),
    #[prost(message, tag = "6")]
    RequestTrailers(HttpTrailers),
    #[prost(message, tag = "7")]
    ResponseTrailers(HttpTrailers),
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct ProtocolConfiguration {
    #[prost(enumeration = "BodySendMode", tag = "1")]
    pub request_body_mode: i32,
    #[prost(enumeration = "BodySendMode", tag = "2")]
    pub response_body_mode: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum BodySendMode {
    None = 0,
    Streamed = 1,
    Buffered = 2,
    BufferedPartial = 3,
    FullDuplexStreamed = 4,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct HttpHeaders {
    #[prost(message, optional, tag = "1")]
    pub headers: Option<EnvoyHeaders>,
    /// There is no body.
    #[prost(bool, tag = "3")]
    pub end_of_stream: bool,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct EnvoyHeaders {
    #[prost(message, repeated, tag = "1")]
    pub headers: Vec<EnvoyHeader>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct EnvoyHeader {
    #[prost(string, tag = "1")]
    pub key: String,
    /// Some proxies send it here, in UTF-8.
    #[prost(string, tag = "2")]
    pub value: String,
    #[prost(bytes = "bytes", tag = "3")]
    pub raw_value: Bytes,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct HttpBody {
    #[prost(bytes = "bytes", tag = "1")]
    pub body: Bytes,
    #[prost(bool, tag = "2")]
    pub end_of_stream: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct HttpTrailers {}

/// What a proxy is answered.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessingResponse {
    #[prost(oneof = "ResponsePart", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub response: Option<ResponsePart>,
    /// Values for the proxy's log and for other filters, by namespace.
    #[prost(message, optional, tag = "8")]
    pub dynamic_metadata: Option<Struct>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum ResponsePart {
    #[prost(message, tag = "1")]
    RequestHeaders(CommonAnswer),
    #[prost(message, tag = "2")]
    ResponseHeaders(CommonAnswer),
    #[prost(message, tag = "3")]
    RequestBody(CommonAnswer),
    #[prost(message, tag = "4")]
    ResponseBody(CommonAnswer),
    #[prost(message, tag = "5")]
    RequestTrailers(HttpTrailers),
    #[prost(message, tag = "6")]
    ResponseTrailers(HttpTrailers),
    #[prost(message, tag = "7")]
    ImmediateResponse(ImmediateResponse),
}

/// `HeadersResponse` and `BodyResponse`, which have the same fields.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct CommonAnswer {
    #[prost(message, optional, tag = "1")]
    pub response: Option<CommonResponse>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct CommonResponse {
    #[prost(message, optional, tag = "2")]
    pub header_mutation: Option<HeaderMutation>,
    #[prost(message, optional, tag = "3")]
    pub body_mutation: Option<BodyMutation>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct HeaderMutation {
    #[prost(message, repeated, tag = "1")]
    pub set_headers: Vec<HeaderValueOption>,
    #[prost(string, repeated, tag = "2")]
    pub remove_headers: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct HeaderValueOption {
    #[prost(message, optional, tag = "1")]
    pub header: Option<EnvoyHeader>,
    #[prost(enumeration = "HeaderAppendAction", tag = "3")]
    pub append_action: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum HeaderAppendAction {
    AppendIfExistsOrAdd = 0,
    OverwriteIfExistsOrAdd = 2,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct BodyMutation {
    #[prost(oneof = "MutatedBody", tags = "1, 3")]
    pub mutation: Option<MutatedBody>,
}

#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum MutatedBody {
    #[prost(bytes = "bytes", tag = "1")]
    Body(Bytes),
    #[prost(message, tag = "3")]
    StreamedResponse(HttpBody),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct ImmediateResponse {
    #[prost(message, optional, tag = "1")]
    pub status: Option<HttpStatus>,
    #[prost(message, optional, tag = "2")]
    pub headers: Option<HeaderMutation>,
    #[prost(bytes = "bytes", tag = "3")]
    pub body: Bytes,
    /// For the proxy's log.
    #[prost(string, tag = "5")]
    pub details: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct HttpStatus {
    #[prost(int32, tag = "1")]
    pub code: i32,
}
