//! The fields of one letter, with their values.

use super::FacetPlace;
use crate::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE};
use crate::message::Content;
use crate::read::json::{Raw, is_valid};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The largest body that is looked into, bytes. What distinguishes letters is in small ones, too.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// The most fields of one letter.
const FIELDS_MAX: usize = 300;
/// The most values of one field in one letter: elements of an array.
const VALUES_MAX: usize = 20;
/// How deep objects and arrays are looked into.
const DEPTH_MAX: usize = 6;
/// The longest value, characters, and the longest path. Longer ones are texts, and each letter has its own.
const CHARS_MAX: usize = 100;

/// A field of letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub place: FacetPlace,
    pub path: String,
}

/// The values of each field of a letter. An object or a filled array has no value of its own.
pub(super) type Carried = BTreeMap<Field, BTreeSet<String>>;

/// Whether the fields of a body can be read: it is JSON, and not too large.
pub(super) fn is_readable(content: &Content) -> bool {
    content.body.len() <= BODY_BYTES_MAX && is_valid(&content.body)
}

/// Returns the attributes, and the fields of a body in JSON.
pub(super) fn carried(content: &Content) -> Carried {
    let mut carried = attributes(content);
    if is_readable(content) {
        body(Raw::new(&content.body), &mut carried);
    }
    carried
}

/// Returns the attributes.
pub(super) fn attributes(content: &Content) -> Carried {
    let mut carried = Carried::new();
    for (name, attribute) in &content.attributes {
        if name == MARKER_ATTRIBUTE || name == FAILURE_ATTRIBUTE {
            continue;
        }
        let values = carried.entry(Field { place: FacetPlace::Attribute, path: name.clone() }).or_default();
        values.extend(attribute.as_text().filter(|text| is_short(text)).map(ToString::to_string));
    }
    carried
}

/// Adds the fields of a body. Works through a list instead of calling itself, so that no body exhausts the stack.
fn body<'a>(root: Raw<'a>, carried: &mut Carried) {
    let mut open: Vec<(String, usize, Raw<'a>)> = vec![(String::new(), 0, root)];
    // What is in a string in JSON, as in an SNS envelope. Its own strings are left alone.
    let mut inner: Vec<(String, String)> = Vec::new();
    while let Some((path, depth, raw)) = open.pop() {
        visit(&path, depth, raw, carried, &mut open, Some(&mut inner));
    }
    for (path, text) in inner {
        let mut open = vec![(path, 1, Raw::new(&text))];
        while let Some((path, depth, raw)) = open.pop() {
            visit(&path, depth, raw, carried, &mut open, None);
        }
    }
}

fn visit<'a>(
    path: &str,
    depth: usize,
    raw: Raw<'a>,
    carried: &mut Carried,
    open: &mut Vec<(String, usize, Raw<'a>)>,
    inner: Option<&mut Vec<(String, String)>>,
) {
    let value = if raw.is_object() {
        let mut members = raw.members().peekable();
        let is_empty = members.peek().is_none();
        if depth < DEPTH_MAX {
            let below = |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            open.extend(members.map(|(name, value)| (below(name), depth + 1, value)));
        }
        is_empty.then(|| "{}".to_string())
    } else if raw.is_array() {
        let mut elements = raw.elements().peekable();
        let is_empty = elements.peek().is_none();
        if depth < DEPTH_MAX {
            open.extend(elements.take(VALUES_MAX).map(|element| (format!("{path}[]"), depth + 1, element)));
        }
        is_empty.then(|| "[]".to_string())
    } else if let Some(text) = raw.as_text() {
        match inner {
            Some(inner) if text.starts_with('{') && is_valid(&text) => {
                inner.push((path.to_string(), text.into_owned()));
                None
            }
            _ => Some(text.into_owned()),
        }
    } else {
        Some(raw.text().trim_end().to_string())
    };
    // The root has no name.
    if path.is_empty() || !is_short(path) {
        return;
    }
    let field = Field { place: FacetPlace::Body, path: path.to_string() };
    if carried.len() >= FIELDS_MAX && !carried.contains_key(&field) {
        return;
    }
    let values = carried.entry(field).or_default();
    if let Some(value) = value.filter(|value| is_short(value))
        && values.len() < VALUES_MAX
    {
        values.insert(value);
    }
}

fn is_short(text: &str) -> bool {
    text.chars().nth(CHARS_MAX).is_none()
}
