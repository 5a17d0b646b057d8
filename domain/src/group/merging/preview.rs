//! A preview: the effect of changed policy rules on the stored groups.

use super::{MergeStep, name, steps};
use crate::group::Variant;
use crate::id::GroupId;
use crate::policy::GroupRule;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A group's id and title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupName {
    /// Its id.
    pub id: GroupId,
    /// The title for people.
    pub title: String,
}

/// One change that the rules would make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum GroupChange {
    /// A variant would be merged into another.
    Merged {
        /// The variant.
        group: GroupName,
        /// The representative.
        into: GroupName,
    },
    /// A variant would be unmerged from its representative.
    Unmerged {
        /// The variant.
        group: GroupName,
        /// The representative.
        from: GroupName,
    },
    /// A group would be renamed.
    Renamed {
        /// The group with its current title.
        group: GroupName,
        /// The new title.
        to: String,
    },
}

/// The effect of rules on the stored groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulesPreview {
    /// The changes, in the order of their execution.
    pub changes: Vec<GroupChange>,
    /// The names of rules that match no group.
    pub idle: Vec<String>,
}

impl RulesPreview {
    /// Compares `rules` with the policy's current rules `now`. Excludes changes that the next sweep would make anyway.
    pub fn new(groups: &BTreeMap<GroupId, Variant>, now: &[GroupRule], rules: &[GroupRule]) -> Self {
        let anyway = steps(groups, now);
        let called = |id: &GroupId| {
            let title = groups.get(id).map_or_else(String::new, |group| name(group, now).to_string());
            GroupName { id: id.clone(), title }
        };
        let new = steps(groups, rules).into_iter().filter(|step| !anyway.contains(step));
        let mut changes: Vec<_> = new
            .map(|step| match step {
                MergeStep::Merge { variant, representative } => {
                    GroupChange::Merged { group: called(&variant), into: called(&representative) }
                }
                MergeStep::Unmerge { variant, representative } => {
                    GroupChange::Unmerged { group: called(&variant), from: called(&representative) }
                }
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
