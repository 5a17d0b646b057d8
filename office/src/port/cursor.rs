//! Cursors: `<list>.<number>.<id>`, the place of the last item of a page in its list's order.
//!
//! They name a place, not an item: letters that come and go between two pages neither hide others nor show them twice.

use super::Cursor;

/// A place in a list that is ordered by a number, then by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// What the list is ordered by first.
    pub number: i64,
    /// What it is ordered by among equals.
    pub id: String,
}

impl ListPosition {
    /// Before everything.
    pub fn first() -> Self {
        Self { number: i64::MIN, id: String::new() }
    }

    /// After everything: where lists that begin with the newest start.
    pub fn last() -> Self {
        Self { number: i64::MAX, id: String::new() }
    }

    /// A place in a list that is ordered by a number alone.
    pub fn number(number: i64) -> Self {
        Self { number, id: String::new() }
    }

    /// A place in a list that is ordered by a text alone.
    pub fn id(id: impl Into<String>) -> Self {
        Self { number: 0, id: id.into() }
    }

    /// The cursor of this place in a list.
    pub fn print(&self, list: &str) -> Cursor {
        Cursor(format!("{list}.{}.{}", self.number, self.id))
    }

    /// Reads a cursor of that list; another list's, or none at all, is none.
    pub fn parse(list: &str, cursor: Option<&Cursor>) -> Option<Self> {
        let rest = cursor?.0.strip_prefix(list)?.strip_prefix('.')?;
        let (number, id) = rest.split_once('.')?;
        Some(Self { number: number.parse().ok()?, id: id.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_understood_only_by_the_list_that_made_it() {
        let place = ListPosition { number: -5, id: "a.b.c".into() };
        let cursor = place.print("letters");
        assert_eq!(ListPosition::parse("letters", Some(&cursor)), Some(place));
        for garbage in ["", "letters", "letters.", "letters.x.y", "letters.1", "entries.1.a", "\0", "letters.9e9.a"] {
            assert_eq!(ListPosition::parse("letters", Some(&Cursor(garbage.into()))), None, "{garbage:?}");
        }
        assert_eq!(ListPosition::parse("entries", Some(&cursor)), None);
        assert_eq!(ListPosition::parse("letters", None), None);
    }
}
