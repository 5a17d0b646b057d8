//! What the letters of a group share: values and fields that nearly all of them have, and few letters of other groups.
//!
//! A hint at the cause, from bodies and attributes alone: all letters of a group name one product, come from one version
//! of their producer, or lack a field that the others have. Both samples are bounded, so the numbers are those of
//! samples.

mod collect;
#[cfg(test)]
#[path = "facet_tests.rs"]
mod tests;

use crate::letter::Letter;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use collect::{Carried, Field};
use serde::{Deserialize, Serialize};

/// The most letters of the group, and the most of other groups, that are compared. At 200 a share is known to about
/// seven percentage points, and one page of a store holds them.
pub const FACET_LETTERS_MAX: usize = 200;
/// The most facets in one answer. Further ones are usually the same fact in other fields.
pub const FACETS_MAX: usize = 8;
/// The most fields that are listed as there, and the most as missing: letters of another kind differ in all.
const FIELDS_MAX: usize = 3;
/// The least letters of the group that can share something.
const LETTERS_MIN: u32 = 2;
/// What share of the group's letters a facet covers at least, in permille.
const INSIDE_MIN: u32 = 800;
/// By how much the estimated shares inside and outside differ at least, in permille. At a half
/// two letters against two others are enough, and a value that half of the others have is never a facet.
const DIFFERENCE_MIN: u32 = 500;

/// Where a letter carries a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FacetPlace {
    /// In its body.
    Body,
    /// A message attribute.
    Attribute,
}

/// What the letters share about a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "shares", content = "value")]
pub enum FacetKind {
    /// This value: a string without quotes, or other JSON as it is written.
    Value(String),
    /// That it is there.
    Present,
    /// That it is missing.
    Absent,
}

/// Something that distinguishes the letters of a group from other letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facet {
    /// Where the field is.
    pub place: FacetPlace,
    /// The field: names joined by dots, `[]` after the name of an array, as in `items[].sku`.
    pub field: String,
    /// What they share about it.
    #[serde(flatten)]
    pub kind: FacetKind,
    /// How many letters of the group have it.
    pub inside: u32,
    /// How many of the other letters have it.
    pub outside: u32,
}

/// The facets of a group, with the sizes of the samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facets {
    /// How many letters of the group were compared.
    pub letters: u32,
    /// How many letters of other groups they were compared with. Without any there are no facets.
    pub others: u32,
    /// What distinguishes the group, most distinctive first.
    pub facets: Vec<Facet>,
}

/// Compares letters of a group with letters of other groups. Reads at most [`FACET_LETTERS_MAX`] of each.
///
/// Only letters whose payload could be read are compared: a truncated body lacks every field. Where there are too few on
/// one side, the attributes of all letters are compared, and nothing is said if they show nothing.
pub fn facets(inside: &[Letter], outside: &[Letter]) -> Facets {
    let inside = &inside[..inside.len().min(FACET_LETTERS_MAX)];
    let outside = &outside[..outside.len().min(FACET_LETTERS_MAX)];
    if count(inside.len()) < LETTERS_MIN || outside.is_empty() {
        return Facets { letters: count(inside.len()), others: count(outside.len()), facets: Vec::new() };
    }
    let readable = |letters: &[Letter]| -> Vec<Carried> {
        let readable = letters.iter().filter(|letter| collect::is_readable(&letter.content));
        readable.map(|letter| collect::carried(&letter.content)).collect()
    };
    let (ours, theirs) = (readable(inside), readable(outside));
    if count(ours.len()) >= LETTERS_MIN && !theirs.is_empty() {
        return compared(ours, theirs);
    }
    let attributes = |letters: &[Letter]| -> Vec<Carried> {
        letters.iter().map(|letter| collect::attributes(&letter.content)).collect()
    };
    let found = compared(attributes(inside), attributes(outside));
    if found.facets.is_empty() { Facets { others: 0, ..found } } else { found }
}

fn compared(inside: Vec<Carried>, outside: Vec<Carried>) -> Facets {
    let (letters, others) = (count(inside.len()), count(outside.len()));
    let mut fields: BTreeMap<Field, Tally> = BTreeMap::new();
    for carried in inside {
        add(&mut fields, carried, |both| &mut both.inside);
    }
    for carried in outside {
        add(&mut fields, carried, |both| &mut both.outside);
    }
    let mut found: Vec<Facet> =
        fields.into_iter().filter_map(|(field, tally)| tally.facet(field, letters, others)).collect();
    // Of equally distinctive ones the shorter name comes first: a parent before what is in it.
    found.sort_by_key(|facet| {
        let difference = difference(facet.inside, letters, facet.outside, others);
        (core::cmp::Reverse(difference), facet.field.len(), facet.field.clone())
    });
    let mut facets: Vec<Facet> = Vec::new();
    for facet in found {
        let is_value = matches!(facet.kind, FacetKind::Value(_));
        let of_kind = facets.iter().filter(|other| other.kind == facet.kind).count();
        let has_room = facets.len() < FACETS_MAX && (is_value || of_kind < FIELDS_MAX);
        if has_room && !facets.iter().any(|parent| parent.implies(&facet)) {
            facets.push(facet);
        }
    }
    Facets { letters, others, facets }
}

/// In how many letters of each sample something is.
#[derive(Clone, Copy, Default)]
struct Both {
    inside: u32,
    outside: u32,
}

/// How often a field occurs, and each of its values.
#[derive(Default)]
struct Tally {
    present: Both,
    values: BTreeMap<String, Both>,
}

fn add(fields: &mut BTreeMap<Field, Tally>, carried: Carried, side: impl Fn(&mut Both) -> &mut u32) {
    for (field, values) in carried {
        let tally = fields.entry(field).or_default();
        *side(&mut tally.present) += 1;
        for value in values {
            *side(tally.values.entry(value).or_default()) += 1;
        }
    }
}

impl Tally {
    /// Returns the most distinctive fact about a field. A value says more than that the field is there.
    fn facet(self, field: Field, letters: u32, others: u32) -> Option<Facet> {
        let absent = Both { inside: letters - self.present.inside, outside: others - self.present.outside };
        let facts = [(FacetKind::Present, self.present), (FacetKind::Absent, absent)];
        let values = self.values.into_iter().map(|(value, both)| (FacetKind::Value(value), both));
        values
            .chain(facts)
            .filter(|(_, both)| u64::from(both.inside) * 1000 >= u64::from(INSIDE_MIN) * u64::from(letters))
            .map(|(kind, both)| (difference(both.inside, letters, both.outside, others), kind, both))
            .filter(|(difference, _, _)| *difference >= DIFFERENCE_MIN)
            // Of equal ones the first: values come before the others.
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, kind, both)| Facet {
                place: field.place,
                field: field.path,
                kind,
                inside: both.inside,
                outside: both.outside,
            })
    }
}

impl Facet {
    /// Whether another facet is only this one in a field below: where `gift` is missing, `gift.id` is, too.
    fn implies(&self, other: &Self) -> bool {
        let is_below = other
            .field
            .strip_prefix(self.field.as_str())
            .is_some_and(|rest| rest.starts_with('.') || rest.starts_with("[]"));
        let is_same = (self.inside, self.outside) == (other.inside, other.outside);
        is_below && is_same && self.place == other.place && self.kind == other.kind
    }
}

/// Returns by how much two shares differ, in permille; 0 if the second is larger. Each is estimated by the rule of
/// succession (Laplace: one more hit and one more miss), so that small samples claim little.
fn difference(inside: u32, letters: u32, outside: u32, others: u32) -> u32 {
    let share = |hits: u32, of: u32| (hits + 1) * 1000 / (of + 2);
    share(inside, letters).saturating_sub(share(outside, others))
}

fn count(letters: usize) -> u32 {
    // At most FACET_LETTERS_MAX.
    u32::try_from(letters).unwrap_or(u32::MAX)
}
