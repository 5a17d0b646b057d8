//! How a list of groups differs from an earlier one.

use alloc::vec::Vec;
use domain::id::GroupId;
use serde::{Deserialize, Serialize};

/// How a list differs from the one of an earlier version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListChanges {
    /// The number of parts over which the reader's version spreads the groups: FNV-1a (32 bits) of a group's id, modulo this.
    pub parts: u32,
    /// The parts that changed, ascending. The answer holds all of their rows; other groups of these parts have left.
    pub changed: Vec<u32>,
    /// The number of rows of the whole list.
    pub rows: u32,
    /// The new order, if it changed: for each row its position among all ids in ascending order. Otherwise rows stay where
    /// they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<u32>>,
}

/// Returns the part that a group belongs to.
pub fn part_of(id: &GroupId, parts: u32) -> u32 {
    let hash =
        id.as_str().bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash % parts.max(1)
}
