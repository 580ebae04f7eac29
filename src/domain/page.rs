//! Pages (spec §2.2, §8).

use super::bounds;

/// A requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageRequest {
    /// The page number as the caller counts.
    number: i64,
    /// The number of the first page: 0 or `compat.first_page` with `size`, 1 with `page_size` or `ps`.
    first: i64,
    size: i64,
}

/// The number of the first page of lists that are requested with `size` (`compat.first_page`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "i64")]
pub enum FirstPage {
    Zero,
    One,
}

impl TryFrom<i64> for FirstPage {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        match number {
            0 => Ok(Self::Zero),
            1 => Ok(Self::One),
            _ => Err("it must be 0 or 1"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageInvalid {
    /// `p`.
    #[error("`p` must be a whole number from 0")]
    Number,
    /// `size`, `page_size` or `ps`.
    #[error("the page size must be a whole number from 0")]
    Size,
}

impl PageRequest {
    /// `p` counts from 0, with `size` items a page (spec §8). A size that is absent or 0 means the default; a size over
    /// the maximum is lowered to it.
    ///
    /// # Errors
    /// Not a whole number, or negative.
    pub fn from_zero(p: Option<&str>, size: Option<&str>) -> Result<Self, PageInvalid> {
        let number = match whole(p).ok_or(PageInvalid::Number)? {
            Some(number) if number < 0 => return Err(PageInvalid::Number),
            number => number.unwrap_or(0),
        };
        Ok(Self { number, first: 0, size: size_of(size)? })
    }

    /// The convention of other APIs of this family, selected by `page_size` or `ps` instead of `size`: `p` counts from
    /// 1, and numbers below 1 are read as 1.
    ///
    /// # Errors
    /// Not a whole number, or a negative size.
    pub fn from_one(p: Option<&str>, page_size: Option<&str>) -> Result<Self, PageInvalid> {
        let number = whole(p).ok_or(PageInvalid::Number)?.unwrap_or(1).max(1);
        Ok(Self { number, first: 1, size: size_of(page_size)? })
    }

    /// The first item alone, for statements that return the total with each row.
    pub const fn first_item() -> Self {
        Self { number: 0, first: 0, size: 1 }
    }

    /// The first page, of so many items.
    pub const fn first(size: i64) -> Self {
        Self { number: 0, first: 0, size }
    }

    /// The page of all these items.
    pub fn of<T>(self, items: Vec<T>) -> Page<T> {
        let place = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let total = i64::try_from(items.len()).unwrap_or(i64::MAX);
        self.holding(items.into_iter().skip(place(self.offset())).take(place(self.size)).collect(), total)
    }

    /// Items a page.
    pub const fn size(self) -> i64 {
        self.size
    }

    /// Items before this page; saturates.
    pub const fn offset(self) -> i64 {
        (self.number - self.first).saturating_mul(self.size)
    }

    /// The total number of items, if the `rows` of this page show it: a page that is not full is the last one, unless
    /// it is empty and not the first. Most lists need no count.
    pub fn total_if_last(self, rows: usize) -> Option<i64> {
        let rows = i64::try_from(rows).ok()?;
        let is_last = rows < self.size && (rows > 0 || self.offset() == 0);
        if is_last { self.offset().checked_add(rows) } else { None }
    }

    /// The answer to this request.
    pub const fn holding<T>(self, items: Vec<T>, total: i64) -> Page<T> {
        Page { page: self.number, page_size: self.size, total, items }
    }
}

/// A whole number: `Some(None)` if it is absent or empty, `None` if it is not a number.
#[expect(clippy::option_option, reason = "absent and invalid are different results")]
fn whole(text: Option<&str>) -> Option<Option<i64>> {
    match text.map(str::trim) {
        None | Some("") => Some(None),
        Some(digits) => digits.parse().ok().map(Some),
    }
}

fn size_of(text: Option<&str>) -> Result<i64, PageInvalid> {
    match whole(text).ok_or(PageInvalid::Size)? {
        Some(size) if size < 0 => Err(PageInvalid::Size),
        None | Some(0) => Ok(bounds::DEFAULT_PAGE_SIZE),
        Some(size) => Ok(size.min(bounds::MAX_PAGE_SIZE)),
    }
}

/// One page of a list (spec §2.2).
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The requested number.
    pub page: i64,
    /// The size after applying default and maximum.
    pub page_size: i64,
    /// The number of items on all pages.
    pub total: i64,
    /// Empty after the last page.
    pub items: Vec<T>,
}

impl<T> Page<T> {
    /// Converts the items.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page {
            page: self.page,
            page_size: self.page_size,
            total: self.total,
            items: self.items.into_iter().map(change).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pages_with_size_count_from_0() {
        let page = |p, size| PageRequest::from_zero(p, size).map(|r| (r.number, r.size, r.offset()));
        assert_eq!(page(None, None), Ok((0, 10, 0)));
        assert_eq!(page(Some("2"), Some("5")), Ok((2, 5, 10)));
        assert_eq!(page(Some(""), Some("0")), Ok((0, 10, 0)));
        assert_eq!(page(Some("0"), Some("101")), Ok((0, 100, 0)));
        assert_eq!(page(Some("-1"), None), Err(PageInvalid::Number));
        assert_eq!(page(Some("x"), None), Err(PageInvalid::Number));
        assert_eq!(page(Some("1.5"), None), Err(PageInvalid::Number));
        assert_eq!(page(None, Some("-5")), Err(PageInvalid::Size));
        assert_eq!(page(None, Some("ten")), Err(PageInvalid::Size));
    }

    #[test]
    fn pages_with_page_size_count_from_1() {
        let page = |p, size| PageRequest::from_one(p, size).map(|r| (r.number, r.size, r.offset()));
        assert_eq!(page(None, Some("20")), Ok((1, 20, 0)));
        assert_eq!(page(Some("0"), Some("20")), Ok((1, 20, 0)));
        assert_eq!(page(Some("-3"), Some("20")), Ok((1, 20, 0)));
        assert_eq!(page(Some("3"), Some("500")), Ok((3, 100, 200)));
        assert_eq!(page(Some("x"), Some("20")), Err(PageInvalid::Number));
    }

    #[test]
    fn a_page_that_is_not_full_shows_the_total_unless_it_is_empty_and_not_the_first() {
        let table = [
            // page, rows: total
            ("0", 0, Some(0)),
            ("0", 1, Some(1)),
            ("0", 4, Some(4)),
            ("0", 5, None),
            ("2", 0, None),
            ("2", 1, Some(11)),
            ("2", 4, Some(14)),
            ("2", 5, None),
        ];
        for (p, rows, total) in table {
            let page = PageRequest::from_zero(Some(p), Some("5")).unwrap();
            assert_eq!(page.size(), 5);
            assert_eq!(page.total_if_last(rows), total, "page {p} with {rows} rows");
        }
    }

    #[test]
    fn an_answer_repeats_the_page_its_size_and_the_total() {
        let page = PageRequest::from_one(Some("2"), Some("500")).unwrap().holding(vec![7, 8], 9).map(|n| n + 1);
        assert_eq!((page.page, page.page_size, page.total, page.items), (2, bounds::MAX_PAGE_SIZE, 9, vec![8, 9]));
    }

    proptest! {
        #[test]
        fn no_page_has_a_negative_offset_or_an_unbounded_size(p: i64, size: i64) {
            let (p, size) = (p.to_string(), size.to_string());
            let both = [PageRequest::from_zero(Some(&p), Some(&size)), PageRequest::from_one(Some(&p), Some(&size))];
            for page in both.into_iter().flatten() {
                prop_assert!(page.offset() >= 0);
                prop_assert!((1..=bounds::MAX_PAGE_SIZE).contains(&page.size()));
            }
        }
    }
}
