//! Pages (spec §2.2, §8).

use super::policy;

/// Which page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The number as the caller counts.
    number: i64,
    /// What the caller calls the first page: 0 by the spec, 1 by the other habit.
    first: i64,
    size: i64,
}

/// Why a page was refused.
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
    /// The spec's habit: `p` counts from 0, `size` items a page (spec §8).
    /// Absent or 0 means the default size, and what is too large is cut.
    ///
    /// # Errors
    /// Whatever is not a whole number from 0.
    pub fn from_zero(p: Option<&str>, size: Option<&str>) -> Result<Self, PageInvalid> {
        let number = match whole(p).ok_or(PageInvalid::Number)? {
            Some(number) if number < 0 => return Err(PageInvalid::Number),
            number => number.unwrap_or(0),
        };
        Ok(Self { number, first: 0, size: size_of(size)? })
    }

    /// The other habit of this API family, known by `page_size` or `ps` in place of `size`:
    /// `p` counts from 1, and whatever is below 1 is read as 1.
    ///
    /// # Errors
    /// Whatever is not a whole number, and negative sizes.
    pub fn from_one(p: Option<&str>, page_size: Option<&str>) -> Result<Self, PageInvalid> {
        let number = whole(p).ok_or(PageInvalid::Number)?.unwrap_or(1).max(1);
        Ok(Self { number, first: 1, size: size_of(page_size)? })
    }

    /// Items a page.
    #[must_use]
    pub const fn size(self) -> i64 {
        self.size
    }

    /// Items before this page. Beyond all counting, nothing is there anyway.
    #[must_use]
    pub const fn offset(self) -> i64 {
        (self.number - self.first).saturating_mul(self.size)
    }

    /// The total number of items, if the `rows` of this page show it: a page that is not full is the last one, unless it
    /// is empty and not the first. Most lists need no count.
    #[must_use]
    pub fn total_if_last(self, rows: usize) -> Option<i64> {
        let rows = i64::try_from(rows).ok()?;
        let is_last = rows < self.size && (rows > 0 || self.offset() == 0);
        if is_last { self.offset().checked_add(rows) } else { None }
    }

    /// The page, echoing what was asked.
    #[must_use]
    pub const fn holding<T>(self, items: Vec<T>, total: i64) -> Page<T> {
        Page { page: self.number, page_size: self.size, total, items }
    }
}

/// `None` if it is not a number at all; an absent or empty one is `Some(None)`.
#[expect(clippy::option_option, reason = "absent and unreadable are different answers")]
fn whole(text: Option<&str>) -> Option<Option<i64>> {
    match text.map(str::trim) {
        None | Some("") => Some(None),
        Some(digits) => digits.parse().ok().map(Some),
    }
}

fn size_of(text: Option<&str>) -> Result<i64, PageInvalid> {
    match whole(text).ok_or(PageInvalid::Size)? {
        Some(size) if size < 0 => Err(PageInvalid::Size),
        None | Some(0) => Ok(policy::DEFAULT_PAGE_SIZE),
        Some(size) => Ok(size.min(policy::MAX_PAGE_SIZE)),
    }
}

/// One page of a list (spec §2.2).
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// As asked.
    pub page: i64,
    /// As used.
    pub page_size: i64,
    /// Items on all pages together.
    pub total: i64,
    /// The items of this page; empty past the end.
    pub items: Vec<T>,
}

impl<T> Page<T> {
    /// The same page of something else.
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
    fn the_specs_habit_counts_from_0() {
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
    fn the_other_habit_counts_from_1() {
        let page = |p, size| PageRequest::from_one(p, size).map(|r| (r.number, r.size, r.offset()));
        assert_eq!(page(None, Some("20")), Ok((1, 20, 0)));
        assert_eq!(page(Some("0"), Some("20")), Ok((1, 20, 0)));
        assert_eq!(page(Some("-3"), Some("20")), Ok((1, 20, 0)));
        assert_eq!(page(Some("3"), Some("500")), Ok((3, 100, 200)));
        assert_eq!(page(Some("x"), Some("20")), Err(PageInvalid::Number));
    }

    proptest! {
        #[test]
        fn no_page_has_a_negative_offset_or_an_unbounded_size(p: i64, size: i64) {
            let (p, size) = (p.to_string(), size.to_string());
            let both = [PageRequest::from_zero(Some(&p), Some(&size)), PageRequest::from_one(Some(&p), Some(&size))];
            for page in both.into_iter().flatten() {
                prop_assert!(page.offset() >= 0);
                prop_assert!((1..=policy::MAX_PAGE_SIZE).contains(&page.size()));
            }
        }
    }
}
