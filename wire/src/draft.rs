//! A plan that is being made in steps, as people see it.

use crate::PlanAnswer;
use alloc::boxed::Box;
use alloc::string::String;
use domain::filter::LetterFilter;
use domain::id::{Actor, ReplayId};
use domain::replay::{Draft, PlanHash};
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};

/// A plan that is being made in steps. It can be approved once it is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DraftView {
    /// The id of the plan that it becomes.
    pub id: ReplayId,
    /// Who makes it.
    pub made_by: Actor,
    /// When it was begun.
    pub made_at: Timestamp,
    /// The filter that selects its letters.
    #[serde(default, skip_serializing_if = "LetterFilter::is_none")]
    pub filter: LetterFilter,
    /// The letters read so far.
    pub read: u64,
    /// The letters to read in all, as the counters say; never fewer than those that are read.
    pub waiting: u64,
    /// The letters in the plan so far.
    pub letters: u64,
    /// Why no plan can be made; `None` while it is being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl DraftView {
    /// Returns what people see of a draft in a group with so many waiting letters.
    pub fn new(draft: &Draft, waiting: u64) -> Self {
        Self {
            id: draft.id.clone(),
            made_by: draft.made_by.clone(),
            made_at: draft.made_at,
            filter: draft.filter.clone(),
            read: draft.read,
            waiting: waiting.max(draft.read),
            letters: draft.selected.letters.letters.max(0).unsigned_abs(),
            failed: draft.ending.as_ref().and_then(|ending| ending.failed.clone()),
        }
    }
}

/// The answer to a request for a plan: the plan, or what is being made of it if the group has many letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PlanningAnswer {
    /// The plan is complete.
    Plan(Box<PlanAnswer>),
    /// The plan is made in steps.
    Draft {
        /// How far it is.
        drafting: DraftView,
    },
}

/// The fields that either answer may carry.
#[derive(Deserialize)]
struct Carried {
    drafting: Option<DraftView>,
    plan: Option<domain::replay::Plan>,
    hash: Option<PlanHash>,
    duration_ms: Option<Span>,
    arrived_since: Option<u64>,
}

impl<'de> Deserialize<'de> for PlanningAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use domain::tagged::need;
        let Carried { drafting, plan, hash, duration_ms, arrived_since } = Carried::deserialize(deserializer)?;
        if let Some(drafting) = drafting {
            return Ok(Self::Draft { drafting });
        }
        Ok(Self::Plan(Box::new(PlanAnswer {
            plan: need(plan, "plan")?,
            hash: need(hash, "hash")?,
            duration_ms: need(duration_ms, "duration_ms")?,
            arrived_since: need(arrived_since, "arrived_since")?,
        })))
    }
}
