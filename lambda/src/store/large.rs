//! What is too large for its record lies beside it, under the hash of its bytes: in parts, or in one piece in the
//! bucket where the store has one and that is cheaper. Both are read for ever, whatever is written today.
//!
//! It is written before the record that names it. A crash in between leaves bytes that nobody names, never a record
//! without its bytes; and whoever writes the same bytes again writes them to the same place.

use super::bucket::{self, Bucket};
use super::fault::Fault;
use super::item::{Item, bytes, get_bytes, number, text};
use super::key;
use super::table::Table;
use domain::id::to_hex;
use futures_util::future::try_join_all;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The bytes of one part: DynamoDB's items end at 400 KB, names and keys included.
const PART_BYTES: usize = 390 * 1024;

/// Bytes in their record, beside it in the table, or in the bucket.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    Here(Vec<u8>),
    Beside { hash: String, parts: usize },
    Bucket { hash: String },
}

/// Some packed bytes, and where they go.
pub(super) struct Large {
    pub(super) place: Place,
    parts: Vec<Item>,
    object: Option<Vec<u8>>,
}

impl Large {
    /// In the record up to so many bytes, else beside it.
    pub(super) fn new(packed: Vec<u8>, here_max: usize, bucket: Option<&Bucket>) -> Self {
        if packed.len() <= here_max {
            return Self { place: Place::Here(packed), parts: Vec::new(), object: None };
        }
        if bucket.is_some_and(|bucket| bucket.takes(packed.len())) {
            let hash = bucket::name(&packed);
            return Self { place: Place::Bucket { hash }, parts: Vec::new(), object: Some(packed) };
        }
        let hash = to_hex(&Sha256::digest(&packed)[..16]);
        let part = |(at, part): (usize, &[u8])| {
            let mut item = key::blob(&hash, at).item();
            item.insert("b".into(), bytes(part.to_vec()));
            item
        };
        let parts: Vec<_> = packed.chunks(PART_BYTES).enumerate().map(part).collect();
        Self { place: Place::Beside { parts: parts.len(), hash }, parts, object: None }
    }

    /// Writes what lies beside the record.
    pub(super) async fn write(&mut self, table: &Table) -> Result<(), Fault> {
        if let (Place::Bucket { hash }, Some(object)) = (&self.place, self.object.take()) {
            return table.bucket.as_ref().ok_or(Fault::NoBucket)?.put(hash, object).await;
        }
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
            Self::Bucket { hash } => drop(item.insert(in_bucket(beside), text(hash))),
        }
    }

    /// Notes where it lies, if it does not lie in its record.
    pub(super) fn note_name(&self, item: &mut Item, beside: &str) {
        if !matches!(self, Self::Here(_)) {
            self.note(item, "", beside);
        }
    }

    /// The place that a record notes, if it has one.
    pub(super) fn of(item: &Item, here: &'static str, beside: &'static str) -> Option<Self> {
        if let Ok(packed) = get_bytes(item, here) {
            return Some(Self::Here(packed.to_vec()));
        }
        if let Some(hash) = item.get(&in_bucket(beside)) {
            return Some(Self::Bucket { hash: hash.as_s().ok()?.clone() });
        }
        let hash = item.get(beside)?.as_s().ok()?.clone();
        let parts = super::item::get_number(item, &format!("{beside}n"))?;
        Some(Self::Beside { hash, parts })
    }

    /// The condition under which a record names this very place already, and the hash in it.
    pub(super) fn unmoved(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Here(_) => None,
            Self::Beside { hash, .. } => Some(("v = :v AND ch = :h", hash)),
            Self::Bucket { hash } => Some(("v = :v AND chb = :h", hash)),
        }
    }

    fn in_bucket(&self) -> Option<&str> {
        match self {
            Self::Bucket { hash } => Some(hash),
            Self::Here(_) | Self::Beside { .. } => None,
        }
    }

    /// Removes what lies there. Nobody else may have written the same bytes, and no record may name them any more.
    pub(super) async fn remove(self, table: &Table) -> Result<(), Fault> {
        try_join_all(self.keys().iter().map(|key| table.delete(key, None))).await?;
        match self {
            Self::Bucket { hash } => table.bucket.as_ref().ok_or(Fault::NoBucket)?.delete(&hash).await,
            Self::Here(_) | Self::Beside { .. } => Ok(()),
        }
    }

    fn keys(&self) -> Vec<key::Key> {
        match self {
            Self::Here(_) | Self::Bucket { .. } => Vec::new(),
            Self::Beside { hash, parts } => (0..*parts).map(|at| key::blob(hash, at)).collect(),
        }
    }
}

/// The attribute that names an object of the bucket.
fn in_bucket(beside: &str) -> String {
    format!("{beside}b")
}

/// The bytes of some places, in their order.
pub(super) async fn read(table: &Table, places: Vec<Place>) -> Result<Vec<Vec<u8>>, Fault> {
    let mut keys: Vec<_> = places.iter().flat_map(Place::keys).collect();
    keys.sort_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
    keys.dedup();
    let hashes: HashSet<_> = places.iter().filter_map(Place::in_bucket).collect();
    let objects = match &table.bucket {
        _ if hashes.is_empty() => HashMap::new(),
        Some(bucket) => bucket.get_all(hashes.into_iter().map(String::from).collect()).await?,
        None => return Err(Fault::NoBucket),
    };
    let mut found = HashMap::new();
    for item in table.get_all(keys, true).await? {
        found.insert(key::Key::of(&item)?, get_bytes(&item, "b")?.to_vec());
    }
    let assemble = |place: Place| match place {
        Place::Here(packed) => Ok(packed),
        Place::Bucket { hash } => objects.get(&hash).cloned().ok_or(Fault::PartMissing(hash)),
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
