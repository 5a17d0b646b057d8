//! Cursors: `<list>.<number>.<id>`, the position of a page's last item in the order of its list.
//!
//! A cursor names a position, not an item. Letters that come and go between two pages neither hide others nor show them
//! twice.

use super::Cursor;

/// A position in a list that is ordered by a number, then by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// The first sort key.
    pub number: i64,
    /// The sort key among items with the same number.
    pub id: String,
}

impl ListPosition {
    /// Returns the position before every item.
    pub fn first() -> Self {
        Self { number: i64::MIN, id: String::new() }
    }

    /// Returns the position after every item, where lists with the newest item first start.
    pub fn last() -> Self {
        Self { number: i64::MAX, id: String::new() }
    }

    /// Returns a position in a list that is ordered by a number alone.
    pub fn number(number: i64) -> Self {
        Self { number, id: String::new() }
    }

    /// Returns a position in a list that is ordered by a text alone.
    pub fn id(id: impl Into<String>) -> Self {
        Self { number: 0, id: id.into() }
    }

    /// Returns the cursor of this position in `list`.
    pub fn print(&self, list: &str) -> Cursor {
        Cursor(format!("{list}.{}.{}", self.number, self.id))
    }

    /// Parses a cursor of `list`. Returns `None` for a cursor of another list, for anything else, and without a cursor.
    pub fn parse(list: &str, cursor: Option<&Cursor>) -> Option<Self> {
        let position = cursor?.0.strip_prefix(list)?.strip_prefix('.')?;
        let (number, id) = position.split_once('.')?;
        Some(Self { number: number.parse().ok()?, id: id.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_parsed_only_by_the_list_that_made_it() {
        let position = ListPosition { number: -5, id: "a.b.c".into() };
        let cursor = position.print("letters");
        assert_eq!(ListPosition::parse("letters", Some(&cursor)), Some(position));
        for garbage in ["", "letters", "letters.", "letters.x.y", "letters.1", "entries.1.a", "\0", "letters.9e9.a"] {
            assert_eq!(ListPosition::parse("letters", Some(&Cursor(garbage.into()))), None, "{garbage:?}");
        }
        assert_eq!(ListPosition::parse("entries", Some(&cursor)), None);
        assert_eq!(ListPosition::parse("letters", None), None);
    }
}
