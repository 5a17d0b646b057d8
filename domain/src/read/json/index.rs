//! The members of one object, found in a single pass, so that many questions cost no further one.

use super::Raw;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The most members that are indexed; what stands behind them is found by pointers only.
const MEMBERS_MAX: usize = 256;

/// The members of an object in their order; none for anything else.
#[derive(Clone, Debug, Default)]
pub struct Index<'a>(Vec<(&'a str, Raw<'a>)>);

impl<'a> Index<'a> {
    /// Indexes an object.
    pub fn of(raw: Raw<'a>) -> Self {
        Self(raw.members().take(MEMBERS_MAX).collect())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members.
    pub fn members(&self) -> &[(&'a str, Raw<'a>)] {
        &self.0
    }

    /// The member of this name; of two the first wins.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, raw)| *raw)
    }

    /// The member whose name stands first in the list.
    pub fn first(&self, names: &[&str]) -> Option<Raw<'a>> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The text of a member, where it is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.as_text()
    }

    /// The text or the digits of the member whose name stands first in the list and that has some.
    pub fn scalar(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name)?.as_scalar().filter(|text| !text.is_empty()))
    }
}
