//! The members of one object, found in a single pass, so that many questions cost no further one.

use super::Raw;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The most members that are indexed; what stands behind them is found by pointers only.
const MEMBERS_MAX: usize = 256;

/// A set of names in one word: it may hold a name that was never put in, but never misses one that was. Forms ask for a
/// hundred names, and a letter has ten.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sketch(u64);

impl Sketch {
    const fn bit(name: &str) -> u64 {
        let name = name.as_bytes();
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return 1 };
        // Lengths and ends tell names apart well enough; the factors are odd, so that every bit is reached.
        1 << ((name.len() * 31 + *first as usize * 7 + *last as usize * 3) & 63)
    }

    /// Puts a name in.
    pub fn put(&mut self, name: &str) {
        self.0 |= Self::bit(name);
    }

    /// Whether the name may be in it.
    pub fn may_have(self, name: &str) -> bool {
        self.0 & Self::bit(name) != 0
    }
}

/// The members of an object in their order; none for anything else.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    members: Vec<(&'a str, Raw<'a>)>,
    sketch: Sketch,
}

impl<'a> Index<'a> {
    /// Indexes an object.
    pub fn of(raw: Raw<'a>) -> Self {
        let members: Vec<_> = raw.members().take(MEMBERS_MAX).collect();
        let mut sketch = Sketch::default();
        members.iter().for_each(|(key, _)| sketch.put(key));
        Self { members, sketch }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members.
    pub fn members(&self) -> &[(&'a str, Raw<'a>)] {
        &self.members
    }

    /// The member of this name; of two the first wins.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.sketch.may_have(name).then_some(())?;
        self.members.iter().find(|(key, _)| *key == name).map(|(_, raw)| *raw)
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
