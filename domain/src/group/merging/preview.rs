//! What a change of the policy's rules would do to the groups that are stored.

use super::{Step, name, steps};
use crate::group::Variant;
use crate::id::GroupId;
use crate::policy::GroupRule;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A group by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupName {
    /// Its id.
    pub id: GroupId,
    /// What a person calls it.
    pub title: String,
}

/// One change that rules would make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum GroupChange {
    /// A group would be merged into another.
    Merged {
        /// The group.
        group: GroupName,
        /// The other.
        into: GroupName,
    },
    /// A group would leave the one that it is merged into.
    Unmerged {
        /// The group.
        group: GroupName,
        /// The other.
        from: GroupName,
    },
    /// A group would have another name.
    Renamed {
        /// The group as it is called now.
        group: GroupName,
        /// The name.
        to: String,
    },
}

/// What rules would change over the groups that are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulesPreview {
    /// The changes, in the order in which they would be made.
    pub changes: Vec<GroupChange>,
    /// The rules, by name, that no group is about.
    pub idle: Vec<String>,
}

impl RulesPreview {
    /// What would change if `rules` took the place of the policy's `now`. What the next sweep would do anyway is not
    /// their doing and is left out.
    pub fn of(groups: &BTreeMap<GroupId, Variant>, now: &[GroupRule], rules: &[GroupRule]) -> Self {
        let anyway = steps(groups, now);
        let called = |id: &GroupId| {
            let title = groups.get(id).map_or_else(String::new, |group| name(group, now).to_string());
            GroupName { id: id.clone(), title }
        };
        let new = steps(groups, rules).into_iter().filter(|step| !anyway.contains(step));
        let mut changes: Vec<_> = new
            .map(|step| match step {
                Step::Join { group, head } => GroupChange::Merged { group: called(&group), into: called(&head) },
                Step::Leave { group, head } => GroupChange::Unmerged { group: called(&group), from: called(&head) },
            })
            .collect();
        let renamed = groups.values().filter(|group| name(group, now) != name(group, rules));
        changes.extend(
            renamed.map(|group| GroupChange::Renamed { group: called(&group.id), to: name(group, rules).to_string() }),
        );
        let is_idle = |rule: &&GroupRule| !groups.values().any(|group| rule.is_about(&group.id, &group.title));
        Self { changes, idle: rules.iter().filter(is_idle).map(|rule| rule.name.clone()).collect() }
    }
}
