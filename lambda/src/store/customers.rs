//! Counts the customers of groups.

use super::fault::Fault;
use super::item::{Item, get_text};
use super::key::{self, CUSTOMER_SHARDS};
use super::table::{Range, Table};
use domain::group::CountedCustomers;
use domain::id::GroupId;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::collections::HashSet;

/// Shards that are queried at once.
const SHARDS_AT_ONCE: usize = 32;

/// Reads the hashes of all customers of these groups, of which the latest may be missing. Most shards of most groups are
/// empty or nearly so, and each costs half a read unit.
pub(super) async fn count(table: &Table, groups: &[GroupId]) -> Result<CountedCustomers, Fault> {
    let shards = |group| (0..CUSTOMER_SHARDS).map(move |shard| key::customers(group, shard));
    let lists: Vec<String> = groups.iter().flat_map(shards).collect();
    let range = &Range { lagging: true, ..Range::default() };
    let found = stream::iter(lists).map(|list| async move { table.list(&list, range, None).await });
    let found: Vec<Vec<Item>> = found.buffer_unordered(SHARDS_AT_ONCE).try_collect().await?;
    let hashes = found.iter().flatten().map(|item| get_text(item, "sk")).collect::<Result<Vec<_>, _>>()?;
    let different: HashSet<&str> = hashes.iter().copied().collect();
    Ok(CountedCustomers { sum: hashes.len() as u64, different: different.len() as u64 })
}
