//! What commits have changed since a moment, so that nobody has to read everything again.

use domain::id::GroupId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A position in the sequence of a store's commits. Only the store that returned it can interpret it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangePoint(pub i64);

/// What has changed since a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The fingerprints whose record or counters were changed.
    pub groups: BTreeSet<GroupId>,
    /// The point to ask from next.
    pub next: ChangePoint,
}
