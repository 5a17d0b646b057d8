//! The values at the masks of a variant's title. A title is made of the first letter alone, so it masks also what is the
//! same in all letters: `the len is * but the index is *`.
//!
//! A variant keeps the values of its first letter. The first letter with another value at a mask, or with another title,
//! removes the value for ever. So the variant is written again at most once for each mask.

use super::{GroupCounts, Variant};
use crate::letter::Letter;
use crate::limits::TITLE_VALUE_LETTERS_MIN;
use crate::read::{MASK, title_values};
use crate::reading::Diagnosis;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A value for each mask of a title, or none if letters differ there; empty if no mask has a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TitleValues(Vec<Option<String>>);

impl TitleValues {
    /// Returns the values of one letter that a title may show.
    pub fn from_diagnosis(diagnosis: &Diagnosis) -> Self {
        Self(title_values(diagnosis)).or_empty()
    }

    /// Whether no mask has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn or_empty(self) -> Self {
        if self.0.iter().any(Option::is_some) { self } else { Self::default() }
    }

    /// Returns the values that another letter has, too.
    fn shared_with(self, other: &Self) -> Self {
        let same =
            |(at, value): (usize, Option<String>)| value.filter(|value| other.0.get(at) == Some(&Some(value.clone())));
        Self(self.0.into_iter().enumerate().map(same).collect()).or_empty()
    }

    /// Returns the title with the values.
    fn within(&self, title: &str) -> String {
        let mut parts = title.split(MASK);
        let mut text = String::from(parts.next().unwrap_or_default());
        let values = self.0.iter().map(Option::as_deref).chain(core::iter::repeat(None));
        for (part, value) in parts.zip(values) {
            match value {
                Some(value) => text.push_str(value),
                None => text.push(MASK),
            }
            text.push_str(part);
        }
        text
    }
}

impl Variant {
    /// Returns the variant without those values of its title that one of these letters lacks. `None` if all have them.
    pub fn contradicted_by<'a>(&self, letters: impl IntoIterator<Item = &'a Letter>) -> Option<Self> {
        let values = self.values_shared_with(letters);
        (values != self.title_values).then(|| Self { title_values: values, ..self.moved(self.state.clone()) })
    }

    /// Returns the values of the title that all of these letters have, too.
    pub(super) fn values_shared_with<'a>(&self, letters: impl IntoIterator<Item = &'a Letter>) -> TitleValues {
        let mut values = self.title_values.clone();
        for letter in letters {
            if values.is_empty() {
                break;
            }
            let is_same = letter.diagnosis.title == self.title;
            let own = if is_same { TitleValues::from_diagnosis(&letter.diagnosis) } else { TitleValues::default() };
            values = values.shared_with(&own);
        }
        values
    }

    /// Returns the title that people see: with the values that all letters agree on, if enough letters of enough customers
    /// do. A title of merged variants has masks, because its values are those of one of them.
    pub fn shown_title(&self, counts: &GroupCounts) -> Cow<'_, str> {
        let is_merged = self.merge.into.is_some() || !self.merge.members.is_empty();
        let letters: i64 = counts.by_state.values().map(|tally| tally.letters).sum();
        let few = |count: u64| count < TITLE_VALUE_LETTERS_MIN;
        let is_early = few(letters.max(0).unsigned_abs()) || (counts.customers > 0 && few(counts.customers));
        if self.title_values.is_empty() || is_merged || is_early {
            return Cow::Borrowed(&self.title);
        }
        Cow::Owned(self.title_values.within(&self.title))
    }
}

#[cfg(test)]
#[path = "title_values/title_values_tests.rs"]
mod tests;
