//! What consumers and the policy say, and the two conditions that depend on it: *dependency healthy*, *safe to repeat*.
//!
//! A statement can close the gate. It opens nothing that a later death contradicts.

use super::GateFacts;
use super::judgement::{Judgement, met, unmet};
use crate::fix::FixKind;
use crate::notice::{Circuit, CircuitState, Declaration, Source};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The most message types that one sentence of evidence names.
const NAMED_MAX: usize = 3;

/// What is known from consumers and the policy. By default nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsumerFacts<'a> {
    /// The circuits of the main queue's consumers.
    pub circuits: &'a [Circuit],
    /// The dependency that the group's letters failed on, if their stamps name one.
    pub dependency: Option<&'a str>,
    /// For each message type of the letters, whether it may be handled twice.
    pub repeats: &'a [Repeat],
}

/// Whether messages of one type may be handled twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The message type; `None` for messages without one.
    pub message_type: Option<String>,
    /// What is known.
    pub known: Repeatable,
}

/// What is known about handling a message twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeatable {
    /// The policy's rule for the type decides, whatever consumers say.
    Policy(bool),
    /// A consumer said so.
    Declared(Declaration),
    /// Neither says anything.
    Unknown,
}

impl Repeatable {
    fn is_safe(&self) -> bool {
        match self {
            Self::Policy(safe) => *safe,
            Self::Declared(declaration) => declaration.idempotent,
            Self::Unknown => false,
        }
    }
}

/// For a known dependency its circuit counts; otherwise every circuit of the queue's consumers can close the gate, and
/// none opens it.
pub(super) fn dependency_healthy(facts: &GateFacts<'_>, now: Timestamp) -> Judgement {
    let ConsumerFacts { circuits, dependency, .. } = facts.consumers;
    let mut relevant = circuits.iter().filter(|circuit| dependency.is_none_or(|name| circuit.dependency == name));
    if let Some(Circuit { dependency, state, consumer, .. }) = relevant.clone().find(|circuit| circuit.is_open(now)) {
        let state = if *state == CircuitState::HalfOpen { "half-open" } else { "open" };
        return unmet(format!(
            "{consumer} reports that its circuit to {dependency} is {state}. Wait until its calls succeed again."
        ));
    }
    let closed = relevant.find(|circuit| dependency.is_some() && circuit.closed_since(facts.last_death_until()));
    let closed = closed.map(|Circuit { dependency, consumer, .. }| {
        format!("{consumer} reports that its circuit to {dependency} has closed since the last failure")
    });
    let declared = facts.fix.filter(|fix| fix.kind == FixKind::DependencyRecovered);
    let declared =
        declared.map(|fix| format!("{} declared that it has recovered ({})", fix.declared_by, fix.reference));
    match (declared, closed) {
        (Some(declared), Some(closed)) => met(format!("{declared}; {closed}")),
        (Some(words), None) | (None, Some(words)) => met(words),
        (None, None) => unmet("This failure is transient. Declare that the dependency has recovered."),
    }
}

/// A letter may have been handled in part before it died, and a crash while sending may send it twice. With money that is
/// a second payment, so somebody must have said that it does no harm.
pub(super) fn safe_to_repeat(repeats: &[Repeat]) -> Judgement {
    let refused = repeats.iter().find_map(|repeat| match &repeat.known {
        Repeatable::Policy(false) => Some(format!("The policy says that {} must not be handled twice.", name(repeat))),
        Repeatable::Declared(declaration) if !declaration.idempotent => {
            let Declaration { consumer, version, .. } = declaration;
            Some(format!("{consumer} {version} does not declare that handling {} twice does no harm.", name(repeat)))
        }
        _ => None,
    });
    if let Some(why) = refused {
        return unmet(why);
    }
    let unknown: Vec<&Repeat> = repeats.iter().filter(|repeat| !repeat.known.is_safe()).collect();
    if repeats.is_empty() || !unknown.is_empty() {
        let names = if unknown.is_empty() { "them".into() } else { listed(unknown.iter().map(|one| name(one))) };
        return unmet(format!(
            "These letters carry money, and nobody has declared that handling {names} twice does no harm."
        ));
    }
    met(listed(repeats.iter().map(evidence)))
}

fn evidence(repeat: &Repeat) -> String {
    let name = name(repeat);
    match &repeat.known {
        Repeatable::Declared(Declaration { consumer, version, source, .. }) => {
            let source = match source {
                Source::Notice => "notice",
                Source::Stamp => "stamp",
                Source::Receipt => "receipt",
            };
            format!("{name}: declared by {consumer} {version} in a {source}")
        }
        Repeatable::Policy(_) | Repeatable::Unknown => format!("{name}: declared in the policy"),
    }
}

fn name(repeat: &Repeat) -> &str {
    repeat.message_type.as_deref().unwrap_or("messages without a type")
}

/// Joins at most [`NAMED_MAX`] texts and counts the rest.
fn listed(texts: impl ExactSizeIterator<Item = impl Into<String>>) -> String {
    let rest = texts.len().saturating_sub(NAMED_MAX);
    let named: Vec<String> = texts.take(NAMED_MAX).map(Into::into).collect();
    let named = named.join("; ");
    if rest == 0 { named } else { format!("{named}; and {rest} more") }
}
