//! Cursors: `<list>.<number>.<id>`, the position of a page's last item in the order of its list.
//!
//! A cursor names a position, not an item. Letters that come and go between two pages neither hide others nor show them
//! twice. Every store prints the same cursors, so the API can tell a cursor from anything else ([`Listed::accepts`]).

use super::page::Cursor;
use domain::limits::ID_CHARS_MAX;

/// The most digits of a cursor's number: more than a time in milliseconds has, and never too many for an `i64`.
const DIGITS_MAX: usize = 18;
/// The most hexadecimal digits of the order within the audit log: a commit's stamp, and the write's number in it.
const ORDER_DIGITS_MAX: usize = 18;
/// The most hexadecimal digits of a wave's number.
const WAVE_DIGITS_MAX: usize = 8;

/// A list whose cursors callers of the API bring back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Letters of a group: time of the first send, and the letter's id.
    Letters,
    /// Replays: time of the approval, and the replay's id.
    Replays,
    /// Entries of a replay: sequence number, and the wave in hexadecimal digits.
    Entries,
    /// Audit records of a group: time, and the order within it in hexadecimal digits.
    Audit,
}

impl Listed {
    /// Returns the list's name in cursors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Letters => "letters",
            Self::Replays => "replays",
            Self::Entries => "entries",
            Self::Audit => "audit",
        }
    }

    /// Returns a regular expression of the list's cursors, in the syntax of JSON Schema.
    pub fn pattern(self) -> String {
        let name = self.name();
        match self {
            Self::Letters | Self::Replays => {
                format!("^{name}\\.-?[0-9]{{1,{DIGITS_MAX}}}\\.[A-Za-z0-9_-]{{1,{ID_CHARS_MAX}}}$")
            }
            Self::Entries => format!("^{name}\\.[0-9]{{1,{DIGITS_MAX}}}\\.[0-9a-f]{{1,{WAVE_DIGITS_MAX}}}$"),
            Self::Audit => format!("^{name}\\.-?[0-9]{{1,{DIGITS_MAX}}}\\.[0-9a-f]{{1,{ORDER_DIGITS_MAX}}}$"),
        }
    }

    /// Whether a text is a cursor of this list. A store starts a list from its beginning for any other text.
    pub fn accepts(self, text: &str) -> bool {
        let parts = text.strip_prefix(self.name()).and_then(|rest| rest.strip_prefix('.')?.split_once('.'));
        let Some((number, id)) = parts else { return false };
        let digits = number.strip_prefix('-').filter(|_| self != Self::Entries).unwrap_or(number);
        let hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        let fits =
            |text: &str, max: usize, of: &dyn Fn(u8) -> bool| (1..=max).contains(&text.len()) && text.bytes().all(of);
        fits(digits, DIGITS_MAX, &|byte| byte.is_ascii_digit())
            && match self {
                Self::Letters | Self::Replays => fits(id, ID_CHARS_MAX, &is_of_id),
                Self::Entries => fits(id, WAVE_DIGITS_MAX, &hex),
                Self::Audit => fits(id, ORDER_DIGITS_MAX, &hex),
            }
    }
}

/// Whether a byte may occur in an id of the office: ids are hexadecimal digits, and names in tests.
pub fn is_of_id(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

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

    #[test]
    fn only_cursors_are_accepted_as_cursors() {
        let id = "0123456789abcdef0123456789abcdef";
        for (list, text) in [
            (Listed::Letters, format!("letters.1800000000000.{id}")),
            (Listed::Letters, format!("letters.-5.{id}")),
            (Listed::Replays, format!("replays.1800000000000.{id}")),
            (Listed::Entries, "entries.52.00000003".into()),
            (Listed::Audit, "audit.1800000000000.0000000000000a0f03".into()),
        ] {
            assert!(list.accepts(&text), "{text}");
            assert!(ListPosition::parse(list.name(), Some(&Cursor(text.clone()))).is_some(), "{text}");
            let others = [Listed::Letters, Listed::Replays, Listed::Entries, Listed::Audit];
            assert_eq!(others.into_iter().filter(|other| other.accepts(&text)).collect::<Vec<_>>(), [list]);
            assert!(list.pattern().starts_with(&format!("^{}\\.", list.name())), "{}", list.pattern());
        }
        let long = "9".repeat(5_000);
        for text in [
            "",
            "letters",
            "letters.",
            "letters.1",
            "letters.1.",
            "letters..a",
            "letters.x.a",
            "letters.1.a.b",
            "letters.--1.a",
            "letters.1.a b",
            "letters.1.\0",
            "letters.1.\u{1F4EE}",
            "letters.9999999999999999999.a",
            "letters.+1.a",
            " letters.1.a",
            "entries.-1.0",
            "entries.1.",
            "entries.1.g",
            "entries.1.123456789",
            "audit.1.G",
            "audit.1.0123456789abcdef012",
            "groups.1.a",
            &long,
            &format!("letters.1.{long}"),
        ] {
            for list in [Listed::Letters, Listed::Replays, Listed::Entries, Listed::Audit] {
                assert!(!list.accepts(text), "{text:?}");
            }
        }
    }
}
