//! Pages on the wire (spec §2.2), in both habits of this API family.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::errors::ApiError;
use crate::domain::page::{Page, PageRequest};

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Page number from 0; from 1 together with `page_size` or `ps`.
    p: Option<String>,
    /// Items a page: 10 unless said, 100 at most.
    size: Option<String>,
    /// In place of `size`, by the habit that counts pages from 1.
    page_size: Option<String>,
    /// Short for `page_size`.
    ps: Option<String>,
}

impl PageQuery {
    /// The page asked for. Where both are sent, the spec's wins.
    pub fn read(&self) -> Result<PageRequest, ApiError> {
        let other = self.page_size.as_deref().or(self.ps.as_deref());
        let page = match (&self.size, other) {
            (None, Some(page_size)) => PageRequest::from_one(self.p.as_deref(), Some(page_size)),
            (size, _) => PageRequest::from_zero(self.p.as_deref(), size.as_deref()),
        };
        Ok(page?)
    }
}

/// The Page object (spec §2.2).
#[derive(Debug, Serialize, ToSchema)]
pub struct PageBody<T> {
    /// As asked.
    page: i64,
    /// As used.
    page_size: i64,
    /// On all pages together.
    total: i64,
    /// Empty past the end.
    items: Vec<T>,
}

impl<T> From<Page<T>> for PageBody<T> {
    fn from(page: Page<T>) -> Self {
        Self { page: page.page, page_size: page.page_size, total: page.total, items: page.items }
    }
}
