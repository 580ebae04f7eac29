//! The failure of a handler, with the codes that it can have in its type. The OpenAPI document takes them from there.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;

/// Error codes by the status that they come with.
pub type CodesByStatus = BTreeMap<StatusCode, BTreeSet<ErrorCode>>;

/// Error codes, as a type: a code of [`codes`](crate::api::errors::code::codes), an error that becomes an [`ApiError`],
/// or a tuple of such types.
pub trait CodeList {
    /// Adds the codes to `codes`.
    fn add_to(codes: &mut CodesByStatus);
}

/// The failure of a handler that can answer the codes of `L`, besides those that follow from its permission, its
/// parameters and its body. The tests compare every answer that they receive with the document.
#[derive(Debug)]
pub struct Fails<L = ()>(ApiError, PhantomData<fn() -> L>);

impl<L, E: Into<ApiError>> From<E> for Fails<L> {
    fn from(error: E) -> Self {
        Self(error.into(), PhantomData)
    }
}

impl<L> IntoResponse for Fails<L> {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

/// Tuples of these types, and all shorter ones.
macro_rules! tuples {
    ($($list:ident)*) => {
        impl<$($list: CodeList),*> CodeList for ($($list,)*) {
            fn add_to(_codes: &mut CodesByStatus) {
                $($list::add_to(_codes);)*
            }
        }
        tuples!(@shorter $($list)*);
    };
    (@shorter) => {};
    (@shorter $first:ident $($rest:ident)*) => { tuples! { $($rest)* } };
}

tuples! { A B C D E F G H }
