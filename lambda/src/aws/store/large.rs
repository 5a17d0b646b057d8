//! What is too large for its record lies in parts beside it, under the hash of its bytes.
//!
//! Parts are written before the record that names them. A crash in between leaves parts that nobody names, never a
//! record without its parts; and whoever writes the same bytes again writes the same parts.

use super::fault::Fault;
use super::item::{Item, bytes, get_bytes, number, text};
use super::key;
use super::table::Table;
use domain::id::to_hex;
use futures_util::future::try_join_all;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The bytes of one part: DynamoDB's items end at 400 KB, names and keys included.
const PART_BYTES: usize = 390 * 1024;

/// Bytes in their record, or beside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    Here(Vec<u8>),
    Beside { hash: String, parts: usize },
}

/// Some packed bytes, and where they go.
pub(super) struct Large {
    pub(super) place: Place,
    parts: Vec<Item>,
}

impl Large {
    /// In the record up to so many bytes, else beside it.
    pub(super) fn new(packed: Vec<u8>, here_max: usize) -> Self {
        if packed.len() <= here_max {
            return Self { place: Place::Here(packed), parts: Vec::new() };
        }
        let hash = to_hex(&Sha256::digest(&packed)[..16]);
        let part = |(at, part): (usize, &[u8])| {
            let mut item = key::blob(&hash, at).item();
            item.insert("b".into(), bytes(part.to_vec()));
            item
        };
        let parts: Vec<_> = packed.chunks(PART_BYTES).enumerate().map(part).collect();
        Self { place: Place::Beside { parts: parts.len(), hash }, parts }
    }

    /// Writes what lies beside the record.
    pub(super) async fn write(&mut self, table: &Table) -> Result<(), Fault> {
        try_join_all(std::mem::take(&mut self.parts).into_iter().map(|part| table.put(part))).await?;
        Ok(())
    }
}

impl Place {
    /// Notes the place in a record, under a name of its own for each form.
    pub(super) fn note(&self, item: &mut Item, here: &str, beside: &str) {
        match self {
            Self::Here(packed) => drop(item.insert(here.into(), bytes(packed.clone()))),
            Self::Beside { hash, parts } => {
                item.insert(beside.into(), text(hash));
                item.insert(format!("{beside}n"), number(parts));
            }
        }
    }

    /// The place that a record notes, if it has one.
    pub(super) fn of(item: &Item, here: &'static str, beside: &'static str) -> Option<Self> {
        if let Ok(packed) = get_bytes(item, here) {
            return Some(Self::Here(packed.to_vec()));
        }
        let hash = item.get(beside)?.as_s().ok()?.clone();
        let parts = super::item::get_number(item, &format!("{beside}n"))?;
        Some(Self::Beside { hash, parts })
    }

    fn keys(&self) -> Vec<key::Key> {
        match self {
            Self::Here(_) => Vec::new(),
            Self::Beside { hash, parts } => (0..*parts).map(|at| key::blob(hash, at)).collect(),
        }
    }
}

/// The bytes of some places, in their order.
pub(super) async fn read(table: &Table, places: Vec<Place>) -> Result<Vec<Vec<u8>>, Fault> {
    let mut keys: Vec<_> = places.iter().flat_map(Place::keys).collect();
    keys.sort_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
    keys.dedup();
    let mut found = HashMap::new();
    for item in table.get_all(keys, true).await? {
        found.insert(key::Key::of(&item)?, get_bytes(&item, "b")?.to_vec());
    }
    let assemble = |place: Place| match place {
        Place::Here(packed) => Ok(packed),
        beside @ Place::Beside { .. } => {
            let mut packed = Vec::new();
            for key in beside.keys() {
                packed.extend(found.get(&key).ok_or_else(|| Fault::PartMissing(key.pk))?);
            }
            Ok(packed)
        }
    };
    places.into_iter().map(assemble).collect()
}
