//! Blobs: packed bytes that may be too large for their record.
//!
//! A blob is stored in its record, in parts beside it in the table, or as one object in the bucket. Parts and objects
//! are named by the hash of the blob's bytes. The store reads all three forms, whichever it writes today.
//!
//! A blob is written before the record that names it. A crash in between leaves an unused blob, never a record without
//! its blob. Writing the same blob again overwrites it with the same bytes.

use super::bucket::{self, Bucket};
use super::fault::Fault;
use super::item::{Item, bytes, get_bytes, number, text};
use super::key;
use super::table::Table;
use domain::id::to_hex;
use futures_util::future::try_join_all;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Bytes per part. DynamoDB limits items to 400 KB, including attribute names and keys.
const PART_BYTES: usize = 390 * 1024;

/// Where a blob is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Location {
    /// In the record.
    Record(Vec<u8>),
    /// In parts beside the record.
    Parts { hash: String, count: usize },
    /// As an object in the bucket.
    Object { hash: String },
}

/// A blob to write.
pub(super) struct Blob {
    pub(super) location: Location,
    parts: Vec<Item>,
    object: Option<Vec<u8>>,
}

impl Blob {
    /// Chooses the location: the record up to `record_bytes_max` bytes, else the bucket if it takes this size, else
    /// parts.
    pub(super) fn new(packed: Vec<u8>, record_bytes_max: usize, bucket: Option<&Bucket>) -> Self {
        if packed.len() <= record_bytes_max {
            return Self { location: Location::Record(packed), parts: Vec::new(), object: None };
        }
        if bucket.is_some_and(|bucket| bucket.takes(packed.len())) {
            let hash = bucket::hash_of(&packed);
            return Self { location: Location::Object { hash }, parts: Vec::new(), object: Some(packed) };
        }
        let hash = to_hex(&Sha256::digest(&packed)[..16]);
        let part = |(index, part): (usize, &[u8])| {
            let mut item = key::blob(&hash, index).item();
            item.insert("b".into(), bytes(part.to_vec()));
            item
        };
        let parts: Vec<_> = packed.chunks(PART_BYTES).enumerate().map(part).collect();
        Self { location: Location::Parts { count: parts.len(), hash }, parts, object: None }
    }

    /// Returns the parts that are written beside the record.
    #[cfg(test)]
    pub(super) fn parts(&self) -> &[Item] {
        &self.parts
    }

    /// Writes the blob, unless it belongs in the record.
    pub(super) async fn write(&mut self, table: &Table) -> Result<(), Fault> {
        if let (Location::Object { hash }, Some(object)) = (&self.location, self.object.take()) {
            return table.bucket.as_ref().ok_or(Fault::NoBucket)?.put(hash, object).await;
        }
        try_join_all(std::mem::take(&mut self.parts).into_iter().map(|part| table.put(part))).await?;
        Ok(())
    }
}

impl Location {
    /// Writes the location to a record. `bytes_name` is the attribute for the bytes, `hash_name` the prefix of those
    /// for a hash.
    pub(super) fn write_to(&self, item: &mut Item, bytes_name: &str, hash_name: &str) {
        match self {
            Self::Record(packed) => drop(item.insert(bytes_name.into(), bytes(packed.clone()))),
            Self::Parts { hash, count } => {
                item.insert(hash_name.into(), text(hash));
                item.insert(format!("{hash_name}n"), number(count));
            }
            Self::Object { hash } => drop(item.insert(object_name(hash_name), text(hash))),
        }
    }

    /// Writes the location to another record than the blob's own, unless the blob is stored in its own record.
    pub(super) fn write_outside_to(&self, item: &mut Item, hash_name: &str) {
        if !matches!(self, Self::Record(_)) {
            self.write_to(item, "", hash_name);
        }
    }

    /// Reads the location that [`Location::write_to`] wrote with these names. Returns `None` if the record has none.
    pub(super) fn from_item(item: &Item, bytes_name: &'static str, hash_name: &'static str) -> Option<Self> {
        if let Ok(packed) = get_bytes(item, bytes_name) {
            return Some(Self::Record(packed.to_vec()));
        }
        if let Some(hash) = item.get(&object_name(hash_name)) {
            return Some(Self::Object { hash: hash.as_s().ok()?.clone() });
        }
        let hash = item.get(hash_name)?.as_s().ok()?.clone();
        let count = super::item::get_number(item, &format!("{hash_name}n"))?;
        Some(Self::Parts { hash, count })
    }

    /// Returns the condition that a letter's record already names this content, and the content's hash. Returns `None`
    /// for content in the record itself.
    pub(super) fn already_stored(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Record(_) => None,
            Self::Parts { hash, .. } => Some(("v = :v AND ch = :h", hash)),
            Self::Object { hash } => Some(("v = :v AND chb = :h", hash)),
        }
    }

    fn object_hash(&self) -> Option<&str> {
        match self {
            Self::Object { hash } => Some(hash),
            Self::Record(_) | Self::Parts { .. } => None,
        }
    }

    /// Deletes the blob's parts or object. No record may name the blob any more.
    pub(super) async fn delete(self, table: &Table) -> Result<(), Fault> {
        try_join_all(self.keys().iter().map(|key| table.delete(key, None))).await?;
        match self {
            Self::Object { hash } => table.bucket.as_ref().ok_or(Fault::NoBucket)?.delete(&hash).await,
            Self::Record(_) | Self::Parts { .. } => Ok(()),
        }
    }

    fn keys(&self) -> Vec<key::Key> {
        match self {
            Self::Record(_) | Self::Object { .. } => Vec::new(),
            Self::Parts { hash, count } => (0..*count).map(|index| key::blob(hash, index)).collect(),
        }
    }
}

/// Returns the attribute's name for the hash of an object.
fn object_name(hash_name: &str) -> String {
    format!("{hash_name}b")
}

/// Reads the blobs at these locations, in the same order.
pub(super) async fn read(table: &Table, locations: Vec<Location>) -> Result<Vec<Vec<u8>>, Fault> {
    let mut keys: Vec<_> = locations.iter().flat_map(Location::keys).collect();
    keys.sort_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
    keys.dedup();
    let hashes: HashSet<_> = locations.iter().filter_map(Location::object_hash).collect();
    let objects = match &table.bucket {
        _ if hashes.is_empty() => HashMap::new(),
        Some(bucket) => bucket.get_all(hashes.into_iter().map(String::from).collect()).await?,
        None => return Err(Fault::NoBucket),
    };
    let mut found = HashMap::new();
    for item in table.get_all(keys, true).await? {
        found.insert(key::Key::from_item(&item)?, get_bytes(&item, "b")?.to_vec());
    }
    let assemble = |location: Location| match location {
        Location::Record(packed) => Ok(packed),
        Location::Object { hash } => objects.get(&hash).cloned().ok_or(Fault::PartMissing(hash)),
        parts @ Location::Parts { .. } => {
            let mut packed = Vec::new();
            for key in parts.keys() {
                packed.extend(found.get(&key).ok_or_else(|| Fault::PartMissing(key.pk))?);
            }
            Ok(packed)
        }
    };
    locations.into_iter().map(assemble).collect()
}
