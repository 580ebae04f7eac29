//! Pages (spec §2.2), in both conventions of this API family.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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

    /// The same with this size if none is given.
    pub fn or_size(self, size: i64) -> Self {
        let is_given = self.size.is_some() || self.page_size.is_some() || self.ps.is_some();
        if is_given { self } else { Self { size: Some(size.to_string()), ..self } }
    }

    /// The requested page; `None` if none of the parameters is given, for answers that are whole then.
    pub fn read_if_given(&self, first: FirstPage) -> Result<Option<PageRequest>, ApiError> {
        let is_given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        let is_page = [&self.p, &self.size, &self.page_size, &self.ps].into_iter().any(is_given);
        is_page.then(|| self.read(first)).transpose()
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

/// Which page the rows of an answer are that has all of them if none is asked for; then it has none of these.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct RowPageBody {
    /// Page number, as requested. Absent if no page was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    page: Option<i64>,
    /// Rows per page, as used. Absent if no page was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    page_size: Option<i64>,
    /// Number of rows on all pages. Absent if no page was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    total_rows: Option<i64>,
}

impl RowPageBody {
    pub fn of<T>(page: &Page<T>) -> Self {
        Self { page: Some(page.page), page_size: Some(page.page_size), total_rows: Some(page.total) }
    }
}
