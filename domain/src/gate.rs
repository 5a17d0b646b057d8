//! The gate: the conditions that must hold before a replay may start, each with its evidence.
//!
//! Evaluated on the server, from the store, at the moment of approval, at each resumption and before each wave.

use crate::deployment::Deployment;
use crate::filter::LetterFilter;
use crate::fix::{Fix, FixKind};
use crate::group::Tally;
use crate::id::{Actor, GroupId};
use crate::policy::GatePolicy;
use crate::reading::Class;
use crate::replay::Waiver;
use crate::tagged::need;
use crate::time::Timestamp;
use crate::transform::{DryCounts, DryRun};
use alloc::format;
use alloc::string::{String, ToString};
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
/// ```compile_fail,E0277
/// let forged: domain::gate::Gate = serde_json::from_str("{}")?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    group: GroupId,
    conditions: Vec<Condition>,
}

/// The proof that a gate was open: what an approval and a resumption require. Only [`Gate::open`] makes one.
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
        .map(|kind| judge(kind, facts, policy, now))
        .collect();
    Gate { group: facts.group.clone(), conditions }
}

/// Whether a condition holds, and the evidence.
type Judgement = (Status, String);

fn met(evidence: impl Into<String>) -> Judgement {
    (Status::Met, evidence.into())
}

fn unmet(evidence: impl Into<String>) -> Judgement {
    (Status::Unmet { opens_at: None }, evidence.into())
}

fn judge(kind: ConditionKind, facts: &GateFacts<'_>, policy: &GatePolicy, now: Timestamp) -> Condition {
    let (status, evidence) = match kind {
        ConditionKind::FixDeclared => fix_declared(facts),
        ConditionKind::FixIsLive => fix_is_live(facts),
        ConditionKind::Quiet => quiet(facts, policy, now),
        ConditionKind::DryRun => dry_run(facts),
        ConditionKind::DependencyHealthy => dependency_healthy(facts),
        ConditionKind::LettersReplayable => letters_replayable(facts),
        ConditionKind::QueueReady => match &facts.queue {
            QueueFact::Ready(words) => met(words.clone()),
            QueueFact::NotReady(why) => unmet(why.clone()),
        },
        ConditionKind::Approval => approval(facts, policy),
    };
    let waiver = facts.waivers.iter().find(|waiver| waiver.condition == kind && kind.is_waivable());
    let status = match (status, waiver) {
        (Status::Unmet { .. }, Some(waiver)) => Status::Waived { by: waiver.by.clone(), reason: waiver.reason.clone() },
        (status, _) => status,
    };
    Condition { kind, status, evidence }
}

fn fix_declared(facts: &GateFacts<'_>) -> Judgement {
    match facts.fix {
        Some(fix) => met(format!("{} {}, declared by {}", fix.kind.label(), fix.reference, fix.declared_by)),
        None => unmet("Nobody has said that the cause is gone."),
    }
}

fn fix_is_live(facts: &GateFacts<'_>) -> Judgement {
    let Some(fix) = facts.fix else {
        return unmet("There is no fix to look for.");
    };
    if fix.kind == FixKind::PayloadTransform {
        return met("Each letter is changed as it is sent; nothing has to be deployed");
    }
    if let (FixKind::Deploy, Some(deployment)) = (fix.kind, facts.deployment)
        && deployment.version != fix.reference
    {
        return unmet(format!("{} runs {}; the fix is in {}.", deployment.service, deployment.version, fix.reference));
    }
    if facts.last_died_at.is_some_and(|died_at| died_at > effective_at(fix, facts.deployment)) {
        return unmet("A letter died of this cause after the fix took effect: declare the fix that came after it.");
    }
    match (fix.kind, facts.deployment) {
        (FixKind::Deploy, Some(deployment)) => {
            met(format!("{} runs {}, deployed after the last failure", deployment.service, deployment.version))
        }
        _ => met("Declared after the last failure; no deployment was reported"),
    }
}

/// Since when a fix works: when its version went live, where that was reported; else when it was declared.
pub fn effective_at(fix: &Fix, deployment: Option<&Deployment>) -> Timestamp {
    match deployment {
        Some(deployment) if fix.kind == FixKind::Deploy && deployment.version == fix.reference => deployment.at,
        _ => fix.effective_at,
    }
}

fn quiet(facts: &GateFacts<'_>, policy: &GatePolicy, now: Timestamp) -> Judgement {
    let Some(fix) = facts.fix else {
        return unmet("Counts from the fix.");
    };
    if fix.kind == FixKind::PayloadTransform {
        return met("A transform changes what is sent; new letters do not speak against it");
    }
    let effective_at = effective_at(fix, facts.deployment);
    let from = facts.last_died_at.map_or(effective_at, |died_at| died_at.max(effective_at));
    let opens_at = from.plus(policy.quiet_ms);
    let words = span_words(policy.quiet_ms.as_ms());
    if now >= opens_at {
        met(format!("No new letter for {words} or more"))
    } else {
        (Status::Unmet { opens_at: Some(opens_at) }, format!("Opens by itself when no letter has died for {words}."))
    }
}

fn dry_run(facts: &GateFacts<'_>) -> Judgement {
    let Some(transform) = facts.fix.and_then(|fix| fix.transform.as_ref()) else {
        return unmet("The fix names no transform.");
    };
    let label = transform.label();
    let Some(run) = facts.dry_run.filter(|run| run.transform == *transform) else {
        return unmet(format!("Nobody has tried {label} over the letters that wait: make a dry run."));
    };
    if !run.is_about(facts.filter) {
        return unmet(format!(
            "The dry run of {label} was over other letters than the plan's: make one over these, or over all."
        ));
    }
    let DryCounts { changed, unchanged, failed } = run.counts;
    let words =
        format!("Version {} changes {changed}, leaves {unchanged} as they are, fails on {failed}", transform.version);
    match (run.is_whole(), changed) {
        (false, _) => {
            unmet(format!("The dry run of {label} has tried {} letters, and is not done.", run.counts.total()))
        }
        (true, 0) => unmet(format!("{words}: a fix has to change something.")),
        (true, _) => met(words),
    }
}

fn dependency_healthy(facts: &GateFacts<'_>) -> Judgement {
    match facts.fix {
        Some(fix) if fix.kind == FixKind::DependencyRecovered => {
            met(format!("{} says that it has recovered ({})", fix.declared_by, fix.reference))
        }
        _ => unmet("This failure is transient: declare that the dependency has recovered."),
    }
}

fn letters_replayable(facts: &GateFacts<'_>) -> Judgement {
    let left_out = facts.left_out.join("; ");
    match (facts.letters.letters, left_out.is_empty()) {
        (0, true) => unmet("No letter of this group waits."),
        (0, false) => unmet(format!("No letter can be sent: {left_out}.")),
        (n, is_all) => {
            let mut words = match (n, is_all) {
                (1, true) => "1 letter can be sent".to_string(),
                (n, true) => format!("{n} letters can be sent"),
                (n, false) => format!("{n} can be sent; left out: {left_out}"),
            };
            for unchecked in facts.unchecked {
                words.push_str("; not checked: ");
                words.push_str(unchecked);
            }
            met(words)
        }
    }
}

fn approval(facts: &GateFacts<'_>, policy: &GatePolicy) -> Judgement {
    let over_limit = policy.four_eyes_from.iter().any(|limit| {
        facts.letters.money.sums().iter().any(|sum| sum.currency == limit.currency && sum.amount >= limit.amount)
    });
    let four_eyes = facts.four_eyes || over_limit;
    match (facts.approver, facts.fix) {
        (None, _) => unmet("Waits for somebody who may approve."),
        (Some(rule), _) if four_eyes && rule.is_rule() => unmet("A rule is no second person."),
        (Some(approver), Some(fix)) if four_eyes && *approver == fix.declared_by => {
            unmet(format!("{approver} declared the fix; somebody else must approve it."))
        }
        (Some(approver), _) => met(format!("{approver} may approve")),
    }
}

/// A span in words for evidence: `10 s`, `5 min`, `2 h`.
fn span_words(ms: i64) -> String {
    match ms / 1000 {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
    .to_string()
}
