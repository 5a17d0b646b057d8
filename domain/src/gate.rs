//! The gate: the conditions that must hold before a replay may start, each with its evidence.
//!
//! Evaluated on the server, from the store, at the moment of approval, at each resumption and before each wave.

mod judge;

pub use judge::effective_at;

use crate::deployment::Deployment;
use crate::filter::LetterFilter;
use crate::fix::{Fix, FixKind};
use crate::group::Tally;
use crate::id::{Actor, GroupId};
use crate::policy::GatePolicy;
use crate::reading::Class;
use crate::tagged::need;
use crate::time::Timestamp;
use crate::transform::DryRun;
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The conditions, in the order in which a person meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConditionKind {
    /// Somebody says that the cause is gone.
    FixDeclared,
    /// The fix is newer than the last failure, and is what runs now where that can be seen.
    FixIsLive,
    /// No letter of the group has died for a while.
    Quiet,
    /// For payload transforms: the program was tried over the letters, and changes some.
    DryRun,
    /// For transient groups: what the consumer depends on works again.
    DependencyHealthy,
    /// There are letters that can be sent: not truncated, not expired, under the cap of replays.
    LettersReplayable,
    /// The main queue exists, has the same type and lets us in.
    QueueReady,
    /// Somebody with the right approves, who is not the declarer of the fix where four eyes are asked for.
    Approval,
}

impl ConditionKind {
    /// All conditions, in order.
    pub const ALL: [Self; 8] = [
        Self::FixDeclared,
        Self::FixIsLive,
        Self::Quiet,
        Self::DryRun,
        Self::DependencyHealthy,
        Self::LettersReplayable,
        Self::QueueReady,
        Self::Approval,
    ];

    /// The condition's name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::FixDeclared => "Fix declared",
            Self::FixIsLive => "Fix is live",
            Self::Quiet => "Quiet since the fix",
            Self::DryRun => "Dry run",
            Self::DependencyHealthy => "Dependency healthy",
            Self::LettersReplayable => "Letters can be replayed",
            Self::QueueReady => "Main queue ready",
            Self::Approval => "Approved by a second person",
        }
    }

    /// Whether a person with the right may set it aside with a reason. Never what makes a replay possible at all, nor
    /// the approval itself.
    pub fn is_waivable(self) -> bool {
        matches!(self, Self::FixIsLive | Self::Quiet | Self::DependencyHealthy)
    }
}

/// Whether a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Status {
    /// It holds.
    Met,
    /// It does not.
    Unmet {
        /// When it will hold by itself, if nothing else happens.
        opens_at: Option<Timestamp>,
    },
    /// A person set it aside.
    Waived {
        /// Who.
        by: Actor,
        /// Why.
        reason: String,
    },
}

/// What it may carry.
#[derive(Deserialize)]
struct Carried {
    status: String,
    opens_at: Option<Timestamp>,
    by: Option<Actor>,
    reason: Option<String>,
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Carried { status, opens_at, by, reason } = Carried::deserialize(deserializer)?;
        Ok(match status.as_str() {
            "met" => Self::Met,
            "unmet" => Self::Unmet { opens_at },
            "waived" => Self::Waived { by: need(by, "by")?, reason: need(reason, "reason")? },
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

/// A condition of the gate that a person set aside, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiver {
    /// Which condition.
    pub condition: ConditionKind,
    /// Who.
    pub by: Actor,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// One condition as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    /// Which.
    pub kind: ConditionKind,
    /// Whether it holds.
    #[serde(flatten)]
    pub status: Status,
    /// What shows it, or what is missing, in a sentence.
    pub evidence: String,
}

impl Condition {
    /// Whether it does not stand in the way.
    pub fn holds(&self) -> bool {
        !matches!(self.status, Status::Unmet { .. })
    }
}

/// The gate of a group, judged. Only [`evaluate`] makes one, so that nobody can claim an open gate that was never
/// judged; it has no serialised form for the same reason. `wire::GateView` shows it to people.
///
/// ```compile_fail,E0451
/// use domain::gate::Gate;
/// let forged = Gate { group: "g".into(), conditions: Vec::new() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    group: GroupId,
    conditions: Vec<Condition>,
}

/// The proof that a gate was open: what an approval and a resumption require. Only [`Gate::open`] makes one.
///
/// ```compile_fail,E0451
/// use domain::gate::OpenGate;
/// let forged = OpenGate { group: "g".into() };
/// ```
#[derive(Debug)]
pub struct OpenGate {
    group: GroupId,
}

impl OpenGate {
    /// The group whose gate it was.
    pub fn group(&self) -> &GroupId {
        &self.group
    }
}

impl Gate {
    /// The group that the gate guards.
    pub fn group(&self) -> &GroupId {
        &self.group
    }

    /// The conditions, in the order of [`ConditionKind::ALL`].
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The proof that every condition holds, or the ones that do not.
    pub fn open(&self) -> Result<OpenGate, Vec<Condition>> {
        let unmet: Vec<_> = self.conditions.iter().filter(|c| !c.holds()).cloned().collect();
        if unmet.is_empty() { Ok(OpenGate { group: self.group.clone() }) } else { Err(unmet) }
    }

    /// The conditions other than the approval that are not met: what a replay under way is checked against.
    pub fn unmet_but_approval(&self) -> Vec<&Condition> {
        self.conditions.iter().filter(|c| !c.holds() && c.kind != ConditionKind::Approval).collect()
    }
}

/// What is known of the main queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueFact {
    /// It answered; a few words about it.
    Ready(String),
    /// It cannot take the letters; why.
    NotReady(String),
}

/// What the gate is judged by: read from the store and the queue, never from the caller.
#[derive(Clone, Debug)]
pub struct GateFacts<'a> {
    /// The group.
    pub group: &'a GroupId,
    /// The group's class.
    pub class: Class,
    /// The fix that counts now.
    pub fix: Option<&'a Fix>,
    /// When a letter of the group died last.
    pub last_died_at: Option<Timestamp>,
    /// The dry run of the fix's program, where it is one and it was tried.
    pub dry_run: Option<&'a DryRun>,
    /// Which letters the plan takes.
    pub filter: &'a LetterFilter,
    /// The latest deployment of the group's consumer, where one was reported.
    pub deployment: Option<&'a Deployment>,
    /// The letters that would be sent.
    pub letters: &'a Tally,
    /// How many letters of the group are left out, and why, in words.
    pub left_out: &'a [String],
    /// How many of those that would be sent point to what nobody could look at, and why, in words.
    pub unchecked: &'a [String],
    /// The main queue.
    pub queue: QueueFact,
    /// Who would approve, where somebody with the right asks.
    pub approver: Option<&'a Actor>,
    /// What was set aside.
    pub waivers: &'a [Waiver],
    /// Whether the policy asks for a second person for letters of these types ([`crate::policy::Policy::four_eyes`]).
    pub four_eyes: bool,
}

/// Judges every condition.
pub fn evaluate(facts: &GateFacts<'_>, policy: &GatePolicy, now: Timestamp) -> Gate {
    let conditions = ConditionKind::ALL
        .into_iter()
        .filter(|kind| match kind {
            ConditionKind::DependencyHealthy => facts.class == Class::Transient,
            ConditionKind::DryRun => facts.fix.is_some_and(|fix| fix.kind == FixKind::PayloadTransform),
            _ => true,
        })
        .map(|kind| judge::judge(kind, facts, policy, now))
        .collect();
    Gate { group: facts.group.clone(), conditions }
}
