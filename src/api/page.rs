//! Pages (spec §2.2), in both conventions of this API family.

use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::envelope::Envelope;
use crate::api::errors::failure::ApiError;
use crate::domain::page::{FirstPage, Page, PageRequest};
use crate::domain::search::SearchPattern;

/// The page to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Page number from 0, or from 1 with the setting `compat.first_page`; from 1 together with `page_size` or `ps`.
    p: Option<String>,
    /// Items per page: 10 by default, 100 at most.
    size: Option<String>,
    /// The same; `p` then counts from 1. Ignored beside `size`.
    page_size: Option<String>,
    /// Short for `page_size`. Ignored beside `size` and `page_size`.
    ps: Option<String>,
}

impl PageQuery {
    /// From the numbers of a body: `p`, `size`, `page_size` and `ps`.
    pub fn of(numbers: [Option<i64>; 4]) -> Self {
        let [p, size, page_size, ps] = numbers.map(|number| number.map(|number| number.to_string()));
        Self { p, size, page_size, ps }
    }

    /// Returns true if the answer is a list of one-api: without a page around it. one-api knows neither `page_size` nor
    /// `ps`, so a client that sends them wants a page.
    pub const fn is_of_one_api(&self, one_api: bool) -> bool {
        one_api && self.page_size.is_none() && self.ps.is_none()
    }

    /// The same with this size if none is given.
    pub fn or_size(self, size: i64) -> Self {
        let is_given = self.size.is_some() || self.page_size.is_some() || self.ps.is_some();
        if is_given { self } else { Self { size: Some(size.to_string()), ..self } }
    }

    /// The requested page. `size` takes precedence over `page_size` and `ps`; `first` is the number of its first page.
    pub fn read(&self, first: FirstPage) -> Result<PageRequest, ApiError> {
        let other = self.page_size.as_deref().or(self.ps.as_deref());
        let page = match (&self.size, other, first) {
            (None, Some(page_size), _) => PageRequest::from_one(self.p.as_deref(), Some(page_size)),
            (size, _, FirstPage::One) => PageRequest::from_one(self.p.as_deref(), size.as_deref()),
            (size, _, FirstPage::Zero) => PageRequest::from_zero(self.p.as_deref(), size.as_deref()),
        };
        Ok(page?)
    }
}

/// The answer of a list: a page, or its items alone for tools of one-api.
pub enum ListAnswer<T, P = PageBody<T>> {
    Page(Envelope<P>),
    Items(Envelope<Vec<T>>),
}

impl<T> ListAnswer<T> {
    pub fn of(page: Page<T>, is_of_one_api: bool) -> Self {
        if is_of_one_api { Self::Items(Envelope::of(page.items)) } else { Self::Page(Envelope::of(page.into())) }
    }
}

impl<T: Serialize, P: Serialize> IntoResponse for ListAnswer<T, P> {
    fn into_response(self) -> Response {
        match self {
            Self::Page(page) => page.into_response(),
            Self::Items(items) => items.into_response(),
        }
    }
}

/// A search by name.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeywordQuery {
    /// A part of the name: at least 2 characters and at most 2 `%`.
    keyword: Option<String>,
}

impl KeywordQuery {
    /// The pattern; `None` if nothing is searched.
    pub fn read(&self) -> Result<Option<SearchPattern>, ApiError> {
        Ok(SearchPattern::of_name(self.keyword.as_deref().unwrap_or_default())?)
    }
}

/// The Page object (spec §2.2).
#[derive(Debug, Serialize, ToSchema)]
pub struct PageBody<T> {
    /// Page number, as requested.
    page: i64,
    /// Items per page, as used.
    page_size: i64,
    /// Number of items on all pages.
    total: i64,
    /// The items of this page; empty past the last one.
    items: Vec<T>,
}

impl<T> From<Page<T>> for PageBody<T> {
    fn from(page: Page<T>) -> Self {
        Self { page: page.page, page_size: page.page_size, total: page.total, items: page.items }
    }
}
