//! The gate: the conditions that must hold before a replay may start, each with its evidence.
//!
//! The server evaluates the gate from the store at every approval, at every resumption and before each wave.

mod consumers;
mod judge;
mod judgement;

pub use consumers::{ConsumerFacts, Repeat, Repeatable};
pub use judge::{ONE_MACHINE, effective_at};

use crate::deployment::Deployment;
use crate::filter::LetterFilter;
use crate::fix::{Fix, FixKind};
use crate::group::Tally;
use crate::id::{Actor, GroupId};
use crate::person::Person;
use crate::policy::GatePolicy;
use crate::reading::Class;
use crate::tagged::need;
use crate::time::Timestamp;
use crate::transform::DryRun;
use crate::wrapped::Wrapped;
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The conditions, in the order of the gate's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConditionKind {
    /// A person declared a fix.
    FixDeclared,
    /// The fix is newer than the last failure, and the deployed version contains it, if deployments are reported.
    FixIsLive,
    /// No letter of the group has died for a while.
    Quiet,
    /// For payload transforms: the program was tried on the letters and changes some of them.
    DryRun,
    /// For transient groups: the dependency has recovered.
    DependencyHealthy,
    /// For letters with money: handling them twice does no harm.
    SafeToRepeat,
    /// Some letters can be sent: not truncated, not expired, below the cap on replays.
    LettersReplayable,
    /// For letters that look like error envelopes: a transform changes what is sent.
    Unwrapped,
    /// The main queue exists, has the same type and grants access.
    QueueReady,
    /// A person with the right approves. If a second approver is required, it is not the person who declared the fix;
    /// on one machine, where all sign-ins are one person's, the evidence says so instead.
    Approval,
}

impl ConditionKind {
    /// All conditions, in order.
    pub const ALL: [Self; 10] = [
        Self::FixDeclared,
        Self::FixIsLive,
        Self::Quiet,
        Self::DryRun,
        Self::DependencyHealthy,
        Self::SafeToRepeat,
        Self::LettersReplayable,
        Self::Unwrapped,
        Self::QueueReady,
        Self::Approval,
    ];

    /// Returns the condition's name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::FixDeclared => "Fix declared",
            Self::FixIsLive => "Fix is live",
            Self::Quiet => "Quiet since the fix",
            Self::DryRun => "Dry run",
            Self::DependencyHealthy => "Dependency healthy",
            Self::SafeToRepeat => "Safe to repeat",
            Self::LettersReplayable => "Letters can be replayed",
            Self::Unwrapped => "Without error envelope",
            Self::QueueReady => "Main queue ready",
            Self::Approval => "Approval",
        }
    }

    /// Whether a person with the right may waive it with a reason. Excludes what makes a replay possible at all, and
    /// the approval itself.
    pub fn is_waivable(self) -> bool {
        matches!(self, Self::FixIsLive | Self::Quiet | Self::DependencyHealthy | Self::SafeToRepeat | Self::Unwrapped)
    }
}

/// The status of a condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Status {
    /// The condition holds.
    Met,
    /// The condition does not hold.
    Unmet {
        /// When it will hold without any action, if nothing else happens.
        opens_at: Option<Timestamp>,
    },
    /// A person waived the condition.
    Waived {
        /// Who waived it.
        by: Actor,
        /// The reason that the person gave.
        reason: String,
    },
}

/// The fields that any status may carry.
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

/// A condition that a person waived, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiver {
    /// The waived condition.
    pub condition: ConditionKind,
    /// Who waived it.
    pub by: Actor,
    /// The reason that the person gave.
    pub reason: String,
    /// When it was waived.
    pub at: Timestamp,
}

/// One condition with its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    /// The kind of condition.
    pub kind: ConditionKind,
    /// Its status.
    #[serde(flatten)]
    pub status: Status,
    /// The evidence, or what is missing, in one sentence.
    pub evidence: String,
}

impl Condition {
    /// Whether the condition does not block a replay.
    pub fn holds(&self) -> bool {
        !matches!(self.status, Status::Unmet { .. })
    }
}

/// An evaluated gate. Only [`evaluate`] creates one, so that an open gate cannot be claimed without an evaluation. It
/// has no serialised form for the same reason. `wire::GateView` shows it to people.
///
/// ```compile_fail,E0277
/// let forged: domain::gate::Gate = serde_json::from_str("{}")?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    group: GroupId,
    conditions: Vec<Condition>,
}

/// The proof that a gate was open. Approvals and resumptions require it. Only [`Gate::open`] creates one.
#[derive(Debug)]
pub struct OpenGate {
    group: GroupId,
}

impl OpenGate {
    /// Returns the group of the gate.
    pub fn group(&self) -> &GroupId {
        &self.group
    }
}

impl Gate {
    /// Returns the group of the gate.
    pub fn group(&self) -> &GroupId {
        &self.group
    }

    /// Returns the conditions, in the order of [`ConditionKind::ALL`].
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns the proof that every condition holds, or else the unmet conditions.
    pub fn open(&self) -> Result<OpenGate, Vec<Condition>> {
        let unmet: Vec<_> = self.conditions.iter().filter(|c| !c.holds()).cloned().collect();
        if unmet.is_empty() { Ok(OpenGate { group: self.group.clone() }) } else { Err(unmet) }
    }

    /// Returns the unmet conditions except for the approval: what a running replay is checked against.
    pub fn unmet_but_approval(&self) -> Vec<&Condition> {
        self.conditions.iter().filter(|c| !c.holds() && c.kind != ConditionKind::Approval).collect()
    }
}

/// The state of the main queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueFact {
    /// The queue answered; a short description.
    Ready(String),
    /// The queue cannot take the letters; the reason.
    NotReady(String),
}

/// The input of the gate, from the store and the queue, never from the caller.
#[derive(Clone, Debug)]
pub struct GateFacts<'a> {
    /// The group.
    pub group: &'a GroupId,
    /// The group's class.
    pub class: Class,
    /// The fix that counts now.
    pub fix: Option<&'a Fix>,
    /// When a letter of the group last died, as [`crate::group::GroupCounts::last_died_at`] counts it.
    pub last_died_at: Option<Timestamp>,
    /// Until when all deaths at an unknown time had happened. They prove neither that a fix failed nor that it works.
    pub last_undated_at: Option<Timestamp>,
    /// The latest dry run of the fix's program, if the fix is a transform and was tried.
    pub dry_run: Option<&'a DryRun>,
    /// The filter of the plan's letters.
    pub filter: &'a LetterFilter,
    /// The latest deployment of the group's consumer, if one was reported.
    pub deployment: Option<&'a Deployment>,
    /// What the group's consumers and the policy say.
    pub consumers: ConsumerFacts<'a>,
    /// The letters that would be sent.
    pub letters: &'a Tally,
    /// Letters of the group that are not included, with number and reason, in words.
    pub left_out: &'a [String],
    /// Included letters with a payload whose presence could not be checked, with number and reason, in words.
    pub unchecked: &'a [String],
    /// Included letters that look like error envelopes.
    pub wrapped: &'a Wrapped,
    /// The state of the main queue.
    pub queue: QueueFact,
    /// The person or rule that would approve, if one with the right is asking.
    pub approver: Option<&'a Person>,
    /// The waived conditions.
    pub waivers: &'a [Waiver],
    /// Whether the policy requires a second approver for these message types ([`crate::policy::Policy::four_eyes`]).
    pub four_eyes: bool,
}

impl GateFacts<'_> {
    /// Returns when a letter of the group can have died last.
    fn last_death_until(&self) -> Option<Timestamp> {
        self.last_died_at.max(self.last_undated_at)
    }
}

/// Evaluates every condition.
///
/// ```
/// use domain::filter::LetterFilter;
/// use domain::gate::{ConditionKind, ConsumerFacts, GateFacts, QueueFact, evaluate};
/// use domain::group::Tally;
/// use domain::policy::GatePolicy;
/// use domain::reading::Class;
/// use domain::replay::Wrapped;
/// use domain::time::Timestamp;
///
/// let facts = GateFacts {
///     group: &"g".into(),
///     class: Class::Permanent,
///     fix: None,
///     last_died_at: Some(Timestamp::from_ms(1_800_000_000_000)),
///     last_undated_at: None,
///     dry_run: None,
///     filter: &LetterFilter::default(),
///     deployment: None,
///     consumers: ConsumerFacts::default(),
///     letters: &Tally { letters: 3, ..Tally::default() },
///     left_out: &[],
///     unchecked: &[],
///     wrapped: &Wrapped::default(),
///     queue: QueueFact::Ready("standard queue".into()),
///     approver: None,
///     waivers: &[],
///     four_eyes: true,
/// };
/// let gate = evaluate(&facts, &GatePolicy::default(), Timestamp::from_ms(1_800_000_600_000));
/// let unmet = gate.open().unwrap_err();
/// assert_eq!(unmet[0].kind, ConditionKind::FixDeclared);
/// assert_eq!(unmet[0].evidence, "No fix is declared.");
/// ```
pub fn evaluate(facts: &GateFacts<'_>, policy: &GatePolicy, now: Timestamp) -> Gate {
    let conditions = ConditionKind::ALL
        .into_iter()
        .filter(|kind| match kind {
            ConditionKind::DependencyHealthy => facts.class == Class::Transient,
            ConditionKind::SafeToRepeat => !facts.letters.money.is_empty(),
            ConditionKind::DryRun => {
                facts.fix.is_some_and(|fix| fix.kind == FixKind::PayloadTransform || fix.transform.is_some())
            }
            ConditionKind::Unwrapped => !facts.wrapped.is_none(),
            _ => true,
        })
        .map(|kind| judge::judge(kind, facts, policy, now))
        .collect();
    Gate { group: facts.group.clone(), conditions }
}
