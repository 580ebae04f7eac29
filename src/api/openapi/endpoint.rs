//! A handler as a route and as an operation of the document.

use std::future::Future;
use std::sync::Arc;

use axum::response::Response;
use http::Method;
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::api::envelope::{Done, Envelope};
use crate::api::errors::fails::{CodeList, CodesByStatus, Fails};
use crate::api::openapi::failures;
use crate::api::permission::Permission;
use crate::api::state::AppState;

/// A handler as a route and as an operation of the document.
pub struct Endpoint {
    routes: UtoipaMethodRouter<Arc<AppState>>,
    /// The codes of its error; `None` if it cannot fail.
    codes: Option<CodesByStatus>,
}

impl Endpoint {
    /// `routes` is the route of `handler`.
    pub fn new<H: Handler<A>, A>(routes: UtoipaMethodRouter<Arc<AppState>>, _handler: &H) -> Self {
        Self { routes, codes: H::codes() }
    }

    /// The same under the path without `/v1`, which some clients use.
    pub fn without_v1(mut self) -> Self {
        self.routes.1.paths = std::mem::take(&mut self.routes.1.paths)
            .into_iter()
            .map(|(path, mut item)| {
                let operations = item.get.iter_mut().filter_map(|operation| operation.operation_id.as_mut());
                operations.for_each(|id| id.push_str("_without_v1"));
                (path.trim_start_matches("/v1").to_owned(), item)
            })
            .collect();
        self
    }

    /// The route, with its permission and its failures in the document. A caller needs all credentials of one entry of
    /// `credentials`. Without a permission, anyone may call it.
    pub fn needing(self, permission: Option<Permission>, credentials: &[&[&str]]) -> UtoipaMethodRouter<Arc<AppState>> {
        let (schemas, mut paths, methods) = self.routes;
        for (path, item) in &mut paths.paths {
            let operations = [
                (Method::GET, &mut item.get),
                (Method::POST, &mut item.post),
                (Method::PUT, &mut item.put),
                (Method::PATCH, &mut item.patch),
                (Method::DELETE, &mut item.delete),
            ];
            for (method, operation) in operations {
                let Some(operation) = operation else { continue };
                operation.security = permission.map(|permission| security(permission, credentials));
                failures::declare(&method, path, operation, permission, self.codes.as_ref());
            }
        }
        (schemas, paths, methods)
    }
}

/// A caller needs all credentials of one requirement. The permission is their scope.
fn security(permission: Permission, credentials: &[&[&str]]) -> Vec<SecurityRequirement> {
    let needed = |all: &&[&str]| {
        all.iter()
            .fold(SecurityRequirement::default(), |needed, credential| needed.add(*credential, [permission.as_str()]))
    };
    credentials.iter().map(needed).collect()
}

/// The endpoint of a handler.
macro_rules! endpoint {
    ($handler:path) => {
        $crate::api::openapi::endpoint::Endpoint::new(utoipa_axum::routes!($handler), &$handler)
    };
}
pub(crate) use endpoint;

/// An async function with the arguments `A`.
pub trait Handler<A> {
    /// The codes of its error; `None` if it cannot fail.
    fn codes() -> Option<CodesByStatus>;
}

/// Functions with these arguments, and with fewer.
macro_rules! handlers {
    ($($argument:ident)*) => {
        impl<F, R, $($argument),*> Handler<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R,
            R: Future<Output: HandlerResult>,
        {
            fn codes() -> Option<CodesByStatus> {
                R::Output::codes()
            }
        }
        handlers!(@fewer $($argument)*);
    };
    (@fewer) => {};
    (@fewer $first:ident $($rest:ident)*) => { handlers! { $($rest)* } };
}

handlers! { A B C D E G H }

/// What a handler returns: a result with the codes of its error in its type, or an answer that is always a success.
pub trait HandlerResult {
    fn codes() -> Option<CodesByStatus>;
}

impl<T, L: CodeList> HandlerResult for Result<T, Fails<L>> {
    fn codes() -> Option<CodesByStatus> {
        let mut codes = CodesByStatus::new();
        L::add_to(&mut codes);
        Some(codes)
    }
}

macro_rules! successes {
    ($($answer:ty $(: $data:ident)?,)*) => {$(
        impl$(<$data>)? HandlerResult for $answer {
            fn codes() -> Option<CodesByStatus> {
                None
            }
        }
    )*};
}

successes! { Envelope<T>: T, Done, Response, }
