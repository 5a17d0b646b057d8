//! Notices: what consumers say about their circuits, and which messages they may handle twice. The gate's evidence.
//!
//! A notice travels as the body of a message on the receipts queue. Whoever is believed (the office decides) is believed
//! about these two things and nothing else. Stamps and receipts say the same things, so all three become a [`Statement`],
//! and the newest statement about a dependency or a message type counts.

use crate::clock::is_recent;
use crate::id::{GroupId, QueueArn};
use crate::limits::TIME_MS_MAX;
use crate::text::head;
use crate::time::{Span, Timestamp};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The version of the notice's format that this code writes.
pub const NOTICE_VERSION: u8 = 1;
/// The most circuits of one notice, and of one main queue.
pub const CIRCUITS_MAX: usize = 20;
/// The most message types of one notice.
pub const NOTICE_TYPES_MAX: usize = 50;
/// The most message types of one main queue that declarations are kept of. The one that was said longest ago is dropped.
pub const DECLARATIONS_MAX: usize = 100;
/// The most groups of one main queue whose dependency is kept. The one that was said longest ago is dropped.
pub const FAILED_ON_MAX: usize = 100;
/// The longest name that is kept of a notice, bytes: generous for every real name.
const NAME_BYTES_MAX: usize = 200;
/// How long a statement is kept if its consumer does not repeat it.
const KEPT: Span = Span::from_days(30);
/// How often a statement that says nothing new is written again: every batch of receipts would write it.
const RENEWED_EVERY: Span = Span::from_mins(10);
/// How long an open circuit counts. It is said again at each probe, so a consumer that says nothing has no traffic, and
/// does not know.
const OPEN_WITHIN: Span = Span::from_mins(15);

/// A circuit breaker's state, as stamps, notices and metrics show it.
///
/// ```
/// use domain::notice::CircuitState;
///
/// assert_eq!(serde_json::to_string(&CircuitState::HalfOpen).unwrap(), r#""half_open""#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CircuitState {
    /// Calls pass.
    Closed,
    /// Calls are refused.
    Open,
    /// Single probes pass.
    HalfOpen,
}

/// What a consumer says about itself. As JSON, the body of a message on the receipts queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notice {
    /// The format's version, 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub v: u8,
    /// The ARN of the consumer's main queue.
    pub queue: QueueArn,
    /// The service.
    #[cfg_attr(feature = "schema", schemars(length(max = NAME_BYTES_MAX)))]
    pub consumer: String,
    /// That service's version.
    #[cfg_attr(feature = "schema", schemars(length(max = NAME_BYTES_MAX)))]
    pub consumer_version: String,
    /// When, by that service's clock, milliseconds since 1970-01-01T00:00:00 UTC.
    pub noticed_at: Timestamp,
    /// The circuits whose state has changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = CIRCUITS_MAX)))]
    pub circuits: Vec<CircuitNotice>,
    /// The message types that the service may handle twice without harm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = NOTICE_TYPES_MAX)))]
    pub idempotent: Vec<String>,
}

/// The state of one circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CircuitNotice {
    /// The dependency's name.
    #[cfg_attr(feature = "schema", schemars(length(max = NAME_BYTES_MAX)))]
    pub dependency: String,
    /// The state.
    pub state: CircuitState,
}

impl Notice {
    /// Returns the notice as JSON.
    pub fn print(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the output of [`Notice::print`], and cuts what is longer than its limits. Ignores unknown fields of later
    /// versions. Returns `None` for any other text, for a notice that says nothing, and for a time outside of the years
    /// 1970 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        text.trim_start().starts_with('{').then_some(())?;
        let mut notice: Self = serde_json::from_str(text).ok()?;
        notice.circuits.truncate(CIRCUITS_MAX);
        notice.idempotent.truncate(NOTICE_TYPES_MAX);
        let is_dated = (0..=TIME_MS_MAX).contains(&notice.noticed_at.as_ms());
        let says = !notice.circuits.is_empty() || !notice.idempotent.is_empty();
        (notice.v >= 1 && is_dated && says).then_some(notice)
    }

    /// Returns what the notice states.
    pub fn statements(&self) -> Vec<Statement> {
        let circuit = |notice: &CircuitNotice| {
            Statement::Circuit(Circuit {
                dependency: notice.dependency.clone(),
                state: notice.state,
                consumer: self.consumer.clone(),
                said_at: self.noticed_at,
            })
        };
        let declaration = |message_type: &String| {
            Statement::Repeat(Declaration {
                message_type: Some(message_type.clone()),
                idempotent: true,
                consumer: self.consumer.clone(),
                version: self.consumer_version.clone(),
                source: Source::Notice,
                said_at: self.noticed_at,
            })
        };
        self.circuits.iter().map(circuit).chain(self.idempotent.iter().map(declaration)).collect()
    }
}

/// What a consumer said about one circuit or one message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// The state of a circuit.
    Circuit(Circuit),
    /// Whether messages of a type may be handled twice.
    Repeat(Declaration),
    /// What letters of a group failed on.
    FailedOn(FailedOn),
}

/// The dependency that letters of a group failed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedOn {
    /// The group's fingerprint.
    pub group: GroupId,
    /// The dependency's name.
    pub dependency: String,
    /// When the last of these letters died.
    pub said_at: Timestamp,
}

/// What was last said about a circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circuit {
    /// The dependency's name.
    pub dependency: String,
    /// The state.
    pub state: CircuitState,
    /// The service that said so.
    pub consumer: String,
    /// When.
    pub said_at: Timestamp,
}

impl Circuit {
    /// Whether the circuit is known to let no ordinary call pass.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state != CircuitState::Closed && is_recent(self.said_at, OPEN_WITHIN, now)
    }

    /// Whether the circuit has closed since a moment, usually the last death; `None` if there was none.
    pub fn closed_since(&self, died_at: Option<Timestamp>) -> bool {
        self.state == CircuitState::Closed && died_at.is_none_or(|died_at| self.said_at > died_at)
    }
}

/// What was last said about whether messages of a type may be handled twice without harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The message type; `None` for messages without one.
    pub message_type: Option<String>,
    /// Whether they may.
    pub idempotent: bool,
    /// The service that said so.
    pub consumer: String,
    /// That service's version.
    pub version: String,
    /// Where it said so.
    pub source: Source,
    /// When.
    pub said_at: Timestamp,
}

/// Where a consumer said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In a notice.
    Notice,
    /// In the stamp of a dead letter.
    Stamp,
    /// In the receipt of a message that a replay sent: it processed that message.
    Receipt,
}

/// What the consumers of one main queue last said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptNotices {
    /// The main queue.
    pub queue: QueueArn,
    /// Increases with every write.
    pub version: u64,
    /// The circuits, each dependency once.
    pub circuits: Vec<Circuit>,
    /// The declarations, each message type once.
    pub declarations: Vec<Declaration>,
    /// The dependencies that letters failed on, each group once.
    pub failed_on: Vec<FailedOn>,
    /// When this version was made.
    pub written_at: Timestamp,
    /// After this time a store may delete the record.
    pub expires_at: Timestamp,
}

impl KeptNotices {
    /// Returns an empty record, which no store has yet.
    pub fn new(queue: QueueArn, now: Timestamp) -> Self {
        let expires_at = now.plus(KEPT);
        let (circuits, declarations, failed_on) = (Vec::new(), Vec::new(), Vec::new());
        Self { queue, version: 0, circuits, declarations, failed_on, written_at: now, expires_at }
    }

    /// Returns the record with these statements; `None` if they say nothing new. A statement from the future counts as
    /// made now. An older statement than the kept one is ignored.
    #[must_use]
    pub fn with(&self, statements: &[Statement], now: Timestamp) -> Option<Self> {
        let mut after = self.clone();
        let mut is_new = false;
        for statement in statements {
            is_new |= match statement.clone() {
                Statement::Circuit(circuit) => after.take_circuit(circuit, now),
                Statement::Repeat(declaration) => after.take_declaration(declaration, now),
                Statement::FailedOn(failed_on) => after.take_failed_on(failed_on, now),
            };
        }
        let is_kept = |said_at: Timestamp| now.since(said_at) < KEPT;
        after.circuits.retain(|circuit| is_kept(circuit.said_at));
        after.declarations.retain(|declaration| is_kept(declaration.said_at));
        after.failed_on.retain(|failed_on| is_kept(failed_on.said_at));
        drop_oldest(&mut after.circuits, CIRCUITS_MAX, |circuit| circuit.said_at);
        drop_oldest(&mut after.declarations, DECLARATIONS_MAX, |declaration| declaration.said_at);
        drop_oldest(&mut after.failed_on, FAILED_ON_MAX, |failed_on| failed_on.said_at);
        (after.version, after.written_at, after.expires_at) = (self.version + 1, now, now.plus(KEPT));
        is_new.then_some(after)
    }

    fn take_circuit(&mut self, mut said: Circuit, now: Timestamp) -> bool {
        cut(&mut said.dependency);
        cut(&mut said.consumer);
        said.said_at = said.said_at.min(now);
        let Some(kept) = self.circuits.iter_mut().find(|kept| kept.dependency == said.dependency) else {
            self.circuits.push(said);
            return true;
        };
        let is_news = is_news((kept.said_at, kept.state), (said.said_at, said.state), now);
        if is_news {
            *kept = said;
        }
        is_news
    }

    fn take_declaration(&mut self, mut said: Declaration, now: Timestamp) -> bool {
        said.message_type.iter_mut().for_each(cut);
        cut(&mut said.consumer);
        cut(&mut said.version);
        said.said_at = said.said_at.min(now);
        let Some(kept) = self.declarations.iter_mut().find(|kept| kept.message_type == said.message_type) else {
            self.declarations.push(said);
            return true;
        };
        let before = (kept.idempotent, kept.version.as_str());
        let is_news = is_news((kept.said_at, before), (said.said_at, (said.idempotent, said.version.as_str())), now);
        if is_news {
            // A receipt is the better evidence, and stays it while nothing else is said.
            let is_proven = kept.source == Source::Receipt && before == (said.idempotent, said.version.as_str());
            said.source = if is_proven { Source::Receipt } else { said.source };
            *kept = said;
        }
        is_news
    }

    fn take_failed_on(&mut self, mut said: FailedOn, now: Timestamp) -> bool {
        cut(&mut said.dependency);
        said.said_at = said.said_at.min(now);
        let Some(kept) = self.failed_on.iter_mut().find(|kept| kept.group == said.group) else {
            self.failed_on.push(said);
            return true;
        };
        let is_news = is_news((kept.said_at, &kept.dependency), (said.said_at, &said.dependency), now);
        if is_news {
            *kept = said;
        }
        is_news
    }

    /// Returns the dependency that letters of a group failed on, if a stamp named it.
    pub fn dependency(&self, group: &GroupId) -> Option<&str> {
        self.failed_on.iter().find(|kept| kept.group == *group).map(|kept| kept.dependency.as_str())
    }

    /// Returns what was last said about a message type.
    pub fn declaration(&self, message_type: Option<&str>) -> Option<&Declaration> {
        self.declarations.iter().find(|kept| kept.message_type.as_deref() == message_type)
    }
}

/// Whether a statement is worth a write: it is not older than the kept one, and says something else or says it much
/// later. A kept time that is still to come is that of a clock that has gone back since.
fn is_news<T: PartialEq>(kept: (Timestamp, T), said: (Timestamp, T), now: Timestamp) -> bool {
    let (kept_at, kept) = kept;
    let (said_at, said) = said;
    if kept_at > now {
        return true;
    }
    said_at >= kept_at && (kept != said || said_at.since(kept_at) >= RENEWED_EVERY)
}

fn drop_oldest<T>(kept: &mut Vec<T>, most: usize, said_at: impl Fn(&T) -> Timestamp) {
    while kept.len() > most {
        let oldest = kept.iter().enumerate().min_by_key(|(_, one)| said_at(one)).map_or(0, |(at, _)| at);
        kept.remove(oldest);
    }
}

fn cut(name: &mut String) {
    if name.len() > NAME_BYTES_MAX {
        *name = head(name, NAME_BYTES_MAX).to_owned();
    }
}

/// The part of a stamp that states something. The stamp's other fields are read with the letter.
#[derive(Deserialize)]
struct Stamped {
    /// Only stamps with a context say whether the service is idempotent, by leaving the member out or not.
    reason: Option<String>,
    #[serde(default)]
    idempotent: bool,
    circuit: Option<CircuitNotice>,
    consumer: Option<String>,
    consumer_version: Option<String>,
    failed_at: Option<Timestamp>,
}

/// Returns what the stamp (the attribute `dlo.failure`) of a letter of this group and type states. The letter came at
/// `now`. Returns nothing for a stamp without a context, as other programs write it. A failed call whose circuit was still
/// closed says nothing about the dependency's health.
pub fn of_stamp(stamp: &str, group: &GroupId, message_type: Option<&str>, now: Timestamp) -> Vec<Statement> {
    let read = || serde_json::from_str::<Stamped>(stamp).ok().filter(|stamped| stamped.reason.is_some());
    let Some(Stamped { idempotent, circuit, consumer, consumer_version, failed_at, .. }) = read() else {
        return Vec::new();
    };
    let said_at = failed_at.map_or(now, |failed_at| failed_at.min(now));
    let consumer = consumer.unwrap_or_default();
    let mut statements = Vec::new();
    if let Some(CircuitNotice { dependency, state }) = circuit {
        let failed_on = FailedOn { group: group.clone(), dependency: dependency.clone(), said_at };
        statements.push(Statement::FailedOn(failed_on));
        if state != CircuitState::Closed {
            statements.push(Statement::Circuit(Circuit { dependency, state, consumer: consumer.clone(), said_at }));
        }
    }
    statements.push(Statement::Repeat(Declaration {
        message_type: message_type.map(Into::into),
        idempotent,
        consumer,
        version: consumer_version.unwrap_or_default(),
        source: Source::Stamp,
        said_at,
    }));
    statements
}
