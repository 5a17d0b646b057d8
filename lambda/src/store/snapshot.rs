//! The snapshot of all groups: a record that names its parts, which TTL removes some time after the next snapshot.

use super::fault::Fault;
use super::item::{Item, bytes, get_bytes, get_number, number};
use super::key::{self, EXPIRES, Key};
use super::table::Table;
use domain::time::{Span, Timestamp};
use std::collections::HashMap;

/// Bytes per part. DynamoDB limits items to 400 KB, including attribute names and keys.
const PART_BYTES: usize = 390 * 1024;
/// How long parts are kept. A snapshot follows the one before within an hour or so.
const KEPT: Span = Span::from_days(1);

/// Returns the record of a snapshot, and its parts, which must be written before.
pub(super) fn items(packed: &[u8], stamp: u64, now: Timestamp) -> (Item, Vec<Item>) {
    let part = |(at, part): (usize, &[u8])| {
        let mut item = key::snapshot_part(stamp, at).item();
        item.insert("b".into(), bytes(part.to_vec()));
        item.insert(EXPIRES.into(), number(key::expiry(now.plus(KEPT))));
        item
    };
    let parts: Vec<Item> = packed.chunks(PART_BYTES).enumerate().map(part).collect();
    let mut item = key::snapshot().item();
    item.insert("s".into(), number(stamp));
    item.insert("n".into(), number(parts.len()));
    (item, parts)
}

/// Reads the last snapshot. Returns `None` if there is none, or if a part is missing.
pub(super) async fn read(table: &Table) -> Result<Option<Vec<u8>>, Fault> {
    let Some(item) = table.get(&key::snapshot()).await? else { return Ok(None) };
    let stamp: u64 = get_number(&item, "s").ok_or(Fault::MissingAttribute("s"))?;
    let count: usize = get_number(&item, "n").ok_or(Fault::MissingAttribute("n"))?;
    let keys: Vec<Key> = (0..count).map(|at| key::snapshot_part(stamp, at)).collect();
    let mut found: HashMap<Key, Item> = HashMap::new();
    for item in table.get_all(keys.clone(), true).await? {
        found.insert(Key::from_item(&item)?, item);
    }
    let mut packed = Vec::new();
    for key in keys {
        let Some(part) = found.get(&key) else { return Ok(None) };
        packed.extend_from_slice(get_bytes(part, "b")?);
    }
    Ok(Some(packed))
}
