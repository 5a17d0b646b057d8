//! The members of one object, found in a single pass, so that further lookups need none.

use super::Raw;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The maximum number of indexed members; only pointers find members after them.
const MEMBERS_MAX: usize = 256;

/// A set of names in one word, with false positives but no false negatives. Forms look up a hundred names; a letter
/// has ten.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sketch(u64);

impl Sketch {
    const fn bit(name: &str) -> u64 {
        let name = name.as_bytes();
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return 1 };
        // Length, first and last byte distinguish names well enough. The factors are odd so that every bit can occur.
        1 << ((name.len() * 31 + *first as usize * 7 + *last as usize * 3) & 63)
    }

    /// The set of these names.
    pub const fn from_names(names: &[&str]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < names.len() {
            set |= Self::bit(names[at]);
            at += 1;
        }
        Self(set)
    }

    /// The names of both sets.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set may contain all names of another.
    pub const fn may_have_all(self, names: Self) -> bool {
        names.0 & !self.0 == 0
    }

    /// Adds a name.
    pub fn put(&mut self, name: &str) {
        self.0 |= Self::bit(name);
    }

    /// Whether the set may contain the name.
    pub fn may_have(self, name: &str) -> bool {
        self.0 & Self::bit(name) != 0
    }
}

/// The members of an object in their order; empty for any other value.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    members: Vec<(&'a str, Raw<'a>)>,
    sketch: Sketch,
}

impl<'a> Index<'a> {
    /// Indexes an object.
    pub fn new(raw: Raw<'a>) -> Self {
        let members: Vec<_> = raw.members().take(MEMBERS_MAX).collect();
        let mut sketch = Sketch::default();
        members.iter().for_each(|(key, _)| sketch.put(key));
        Self { members, sketch }
    }

    /// The names of the members.
    pub fn sketch(&self) -> Sketch {
        self.sketch
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members.
    pub fn members(&self) -> &[(&'a str, Raw<'a>)] {
        &self.members
    }

    /// Returns the member with this name; the first one wins.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.sketch.may_have(name).then_some(())?;
        self.members.iter().find(|(key, _)| *key == name).map(|(_, raw)| *raw)
    }

    /// Returns the member whose name comes first in the list.
    pub fn first(&self, names: &[&str]) -> Option<Raw<'a>> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Returns the text of a member, if it is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.as_text()
    }

    /// Returns the first non-empty text or number among the members with these names.
    pub fn scalar(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name)?.as_scalar().filter(|text| !text.is_empty()))
    }
}
