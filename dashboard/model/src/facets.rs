//! What the page says about facets: one line for each, and one about the samples.

use crate::money::count;
use domain::facet::{Facet, FacetKind, FacetPlace, Facets};

/// Returns a facet as a sentence without the numbers: the field, and what the letters share about it.
pub fn fact(facet: &Facet) -> (String, String) {
    let field = match facet.place {
        FacetPlace::Body => facet.field.clone(),
        FacetPlace::Attribute => format!("attribute {}", facet.field),
    };
    let shared = match &facet.kind {
        FacetKind::Value(value) if value.is_empty() => "is empty".to_string(),
        FacetKind::Value(value) => format!("= {value}"),
        FacetKind::Present => "is present".to_string(),
        FacetKind::Absent => "is missing".to_string(),
    };
    (field, shared)
}

/// Returns how many letters of each sample a facet covers.
pub fn shares(facet: &Facet, of: &Facets) -> String {
    let part = |n: u32, of: u32| match n {
        0 => "none".to_string(),
        n if n == of => format!("all {}", count(of.into())),
        n => format!("{} of {}", count(n.into()), count(of.into())),
    };
    format!("{} here, {} elsewhere", part(facet.inside, of.letters), part(facet.outside, of.others))
}

/// Returns what was compared, and what it means if nothing was found.
pub fn samples(found: &Facets) -> String {
    if found.letters < 2 {
        return "There is only one letter here, so there is nothing to compare.".to_string();
    }
    if found.others == 0 {
        return "There is nothing to compare: no other groups of this queue have letters, or payloads cannot be read."
            .to_string();
    }
    let compared =
        format!("{} letters of this group, {} of others", count(found.letters.into()), count(found.others.into()));
    match found.facets.is_empty() {
        true => format!("Nothing sets these letters apart. Compared: {compared}."),
        false => format!("Compared: {compared}. This is a hint, not proof."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facet(kind: FacetKind, inside: u32, outside: u32) -> Facet {
        Facet { place: FacetPlace::Body, field: "product_id".into(), kind, inside, outside }
    }

    #[test]
    fn each_facet_is_one_line() {
        let of = Facets { letters: 40, others: 1_200, facets: Vec::new() };
        for (kind, inside, outside, expected) in [
            (FacetKind::Value("999".into()), 40, 0, "= 999: all 40 here, none elsewhere"),
            (FacetKind::Value(String::new()), 38, 12, "is empty: 38 of 40 here, 12 of 1,200 elsewhere"),
            (FacetKind::Present, 40, 3, "is present: all 40 here, 3 of 1,200 elsewhere"),
            (FacetKind::Absent, 40, 0, "is missing: all 40 here, none elsewhere"),
        ] {
            let facet = facet(kind, inside, outside);
            assert_eq!(format!("{}: {}", fact(&facet).1, shares(&facet, &of)), expected);
        }
        let attribute = Facet { place: FacetPlace::Attribute, ..facet(FacetKind::Present, 1, 0) };
        assert_eq!(fact(&attribute).0, "attribute product_id");
    }

    #[test]
    fn samples_say_what_was_compared() {
        let found = |letters, others, facets| samples(&Facets { letters, others, facets });
        assert!(found(1, 50, vec![]).starts_with("There is only one letter"));
        assert!(found(9, 0, vec![]).starts_with("There is nothing to compare"));
        assert!(found(9, 50, vec![]).starts_with("Nothing sets these letters apart."));
        let one = vec![facet(FacetKind::Absent, 9, 0)];
        assert_eq!(found(9, 50, one), "Compared: 9 letters of this group, 50 of others. This is a hint, not proof.");
    }
}
