//! The token that a request is about, for its line of the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// No token is known yet. Ids begin at 1.
const NONE: i64 = 0;

/// The request is about several.
const SEVERAL: i64 = -1;

tokio::task_local! {
    static TOKEN: NotedToken;
}

/// The id of the token, once it is known. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct NotedToken(Arc<AtomicI64>);

impl NotedToken {
    /// Notes the token of the present request; nothing outside of one. A request about several tokens has none.
    pub fn note(id: i64) {
        let _ = TOKEN.try_with(|NotedToken(token)| {
            let noted = token.compare_exchange(NONE, id, Ordering::Relaxed, Ordering::Relaxed);
            if noted.is_err_and(|other| other != id) {
                token.store(SEVERAL, Ordering::Relaxed);
            }
        });
    }

    /// Notes what `work` says.
    pub fn of<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        TOKEN.scope(self, work)
    }

    pub fn id(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|id| ![NONE, SEVERAL].contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_about_several_tokens_has_none() {
        NotedToken::note(1);
        for (ids, expected) in [(&[][..], None), (&[7, 7], Some(7)), (&[7, 8, 7], None)] {
            let noted = NotedToken::default();
            noted.clone().of(async { ids.iter().copied().for_each(NotedToken::note) }).await;
            assert_eq!(noted.id(), expected, "{ids:?}");
        }
    }
}
