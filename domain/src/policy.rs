//! The policy: a team's decisions. Everything has a safe default.

mod alerts;
mod bounds;
mod change;
mod error;
mod links;
mod rates;
mod shape;
mod sign_in;
mod strategy;
mod version;

pub use alerts::AlertPolicy;
pub use change::{PolicyChange, changes, warnings};
pub use error::PolicyError;
pub use links::LinkPolicy;
pub use rates::{Rate, Rates};
pub use sign_in::{Revoked, SignInPolicy};
pub use strategy::{DlqKind, Jitter, Overload, StrategyRule};
pub use version::PolicyVersion;

use crate::discard::Closed;
use crate::id::{GroupId, QueueArn};
use crate::impact::Severity;
use crate::limits::{DELIVERED_KEPT_MIN, DISCARDED_KEPT_MIN};
use crate::money::Money;
use crate::reading::{Category, Class, Classification};
use crate::time::Span;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The whole policy, in the form of the policy file (JSON).
///
/// ```
/// use domain::policy::Policy;
///
/// let policy = Policy::parse(r#"{ "replay": { "pace_per_s": 10 } }"#)?;
/// assert_eq!(policy.replay.pace_per_s, 10);
/// assert_eq!(policy.gate, Policy::default().gate);
/// assert!(Policy::parse(r#"{ "misspelt": 1 }"#).is_err());
/// assert!(Policy::parse(r#"{ "replay": { "pace_per_s": 0 } }"#).is_err());
/// # Ok::<(), domain::policy::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The queues that letters may be sent back to.
    pub queues: QueuePolicy,
    /// The gate.
    pub gate: GatePolicy,
    /// Replays.
    pub replay: ReplayPolicy,
    /// How messages of each type are read; the first rule with a matching `message_type` wins.
    pub message_types: Vec<MessageTypeRule>,
    /// What consumers do with failed messages of each type; the first rule with a matching `message_type` wins. The
    /// office does not use it.
    pub strategies: Vec<StrategyRule>,
    /// Classification rules, which override every table. The first match wins.
    pub class_rules: Vec<ClassRule>,
    /// Names of groups, and which variants are merged or split. The first rule that matches a group wins.
    pub groups: Vec<GroupRule>,
    /// Which plans are approved without a person. None by default.
    pub auto_approvals: Vec<AutoApproval>,
    /// When people are alerted to letters that wait.
    pub alerts: AlertPolicy,
    /// Exchange rates for ranking groups by money at risk. Without them each currency is ranked by itself.
    pub rates: Option<Rates>,
    /// Links from letters to other systems.
    pub links: LinkPolicy,
    /// Who may no longer sign in, and how long a session may be idle.
    pub sign_in: SignInPolicy,
    /// The retention of dead-letter queues if it cannot be read from the queue, milliseconds. Default: 14 days, the
    /// maximum, which AWS recommends for dead-letter queues.
    pub retention_ms: Span,
    /// How long a delivered letter is kept, milliseconds; null for ever. Default: 90 days. The minimum is
    /// [`DELIVERED_KEPT_MIN`](crate::limits::DELIVERED_KEPT_MIN), even if a lower value is given. Letters that are not
    /// open are kept until they are closed. On AWS a change may apply only to letters delivered after it.
    pub delivered_kept_ms: Option<Span>,
    /// How long a discarded letter is kept, and for how long its discard can be undone, milliseconds; null for ever.
    /// Default: 30 days. The minimum is [`DISCARDED_KEPT_MIN`](crate::limits::DISCARDED_KEPT_MIN). On AWS a change may
    /// apply only to letters discarded after it.
    pub discarded_kept_ms: Option<Span>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            queues: QueuePolicy::default(),
            gate: GatePolicy::default(),
            replay: ReplayPolicy::default(),
            message_types: Vec::new(),
            strategies: Vec::new(),
            class_rules: Vec::new(),
            groups: Vec::new(),
            auto_approvals: Vec::new(),
            alerts: AlertPolicy::default(),
            rates: None,
            links: LinkPolicy::default(),
            sign_in: SignInPolicy::default(),
            retention_ms: Span::from_days(14),
            delivered_kept_ms: Some(Span::from_days(90)),
            discarded_kept_ms: Some(Span::from_days(30)),
        }
    }
}

impl Policy {
    /// Returns how long delivered letters are kept; `None` for ever.
    pub fn delivered_kept(&self) -> Option<Span> {
        self.delivered_kept_ms.map(|kept| kept.max(DELIVERED_KEPT_MIN))
    }

    /// Returns how long discarded letters are kept; `None` for ever.
    pub fn discarded_kept(&self) -> Option<Span> {
        self.discarded_kept_ms.map(|kept| kept.max(DISCARDED_KEPT_MIN))
    }

    /// Returns how long letters that were closed in this way are kept; `None` for ever.
    pub fn kept(&self, closed: Closed) -> Option<Span> {
        match closed {
            Closed::Delivered => self.delivered_kept(),
            Closed::Discarded => self.discarded_kept(),
        }
    }

    /// Returns the rule for a message type: the first rule that names the type or is `*`.
    pub fn message_type_rule(&self, message_type: Option<&str>) -> Option<&MessageTypeRule> {
        self.message_types
            .iter()
            .find(|rule| rule.message_type == "*" || Some(rule.message_type.as_str()) == message_type)
    }

    /// Whether the team's own rules name this message type. Whoever sends a letter chooses its type, but not these.
    pub fn names_message_type(&self, message_type: &str) -> bool {
        let names = self.message_types.iter().map(|rule| &rule.message_type);
        let mut names = names.chain(self.strategies.iter().map(|rule| &rule.message_type));
        names.any(|name| name == message_type)
    }

    /// Returns the strategy for a message type: the first rule that names the type or is `*`.
    pub fn strategy_rule(&self, message_type: Option<&str>) -> Option<&StrategyRule> {
        self.strategies.iter().find(|rule| rule.message_type == "*" || Some(rule.message_type.as_str()) == message_type)
    }

    /// Whether messages of a type may be handled twice; `None` if the consumers' own word counts.
    pub fn may_repeat(&self, message_type: Option<&str>) -> Option<bool> {
        self.message_type_rule(message_type).and_then(|rule| rule.idempotent)
    }

    /// Whether a second person must approve a replay of letters of these types: if any of the types requires it. A
    /// type without a rule follows the gate's default.
    pub fn four_eyes(&self, message_types: &[Option<String>]) -> bool {
        let asks = |message_type: &Option<String>| {
            let rule = self.message_type_rule(message_type.as_deref());
            rule.and_then(|rule| rule.four_eyes).unwrap_or(self.gate.four_eyes)
        };
        if message_types.is_empty() { self.gate.four_eyes } else { message_types.iter().any(asks) }
    }
}

/// The main queues that the deployment names. A letter is sent back to the queue that SQS moved it from. Where SQS
/// names none, because a consumer dead-lettered the message by hand, the letter's own words count only if they name one
/// of these queues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QueuePolicy {
    /// The main queues that letters may name. The deployment adds its own (`MainQueueArns` in the template).
    pub main: Vec<QueueArn>,
    /// The main queue of letters of `default_dlq` for which neither SQS nor their own words name one.
    pub default_main: Option<QueueArn>,
    /// The only dead-letter queue whose letters may get `default_main`: a letter of another queue failed elsewhere. The
    /// template fills in `DeadLetterQueueArn`. `None`: letters of every queue.
    pub default_dlq: Option<QueueArn>,
}

impl QueuePolicy {
    /// Whether a letter may name this queue as its main queue.
    pub fn names(&self, queue: &QueueArn) -> bool {
        self.default_main.as_ref() == Some(queue) || self.main.contains(queue)
    }

    /// Returns the main queue of a letter of this dead-letter queue if nothing names it.
    pub fn default_of(&self, dlq: &QueueArn) -> Option<&QueueArn> {
        self.default_main.as_ref().filter(|_| self.default_dlq.as_ref().is_none_or(|only| only == dlq))
    }

    /// Adds main queues that the deployment names, and its defaults where the policy has none.
    #[must_use]
    pub fn and(mut self, named: &Self) -> Self {
        self.main.extend(named.main.iter().cloned());
        self.default_main = self.default_main.or_else(|| named.default_main.clone());
        self.default_dlq = self.default_dlq.or_else(|| named.default_dlq.clone());
        self
    }

    /// Removes what the deployment names: the reverse of [`QueuePolicy::and`].
    #[must_use]
    pub fn without(mut self, named: &Self) -> Self {
        self.main.retain(|queue| !named.main.contains(queue));
        self.default_main = self.default_main.filter(|queue| named.default_main.as_ref() != Some(queue));
        self.default_dlq = self.default_dlq.filter(|queue| named.default_dlq.as_ref() != Some(queue));
        self
    }
}

/// The gate's requirements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GatePolicy {
    /// How long no new letter may arrive after the fix, milliseconds. Default: 5 minutes.
    pub quiet_ms: Span,
    /// Whether the approver must differ from the person who declared the fix, unless the rule of a message type
    /// overrides it.
    pub four_eyes: bool,
    /// Sums per currency of a group's open letters at or above which a second person must approve even if `four_eyes` is
    /// off. If there is one, a payload transform needs a second person whatever the sum, because it may change sums.
    pub four_eyes_from: Vec<Money>,
    /// A letter that dies again after this many replays is quarantined. Default: 3.
    pub replays_max: u32,
}

impl Default for GatePolicy {
    fn default() -> Self {
        Self { quiet_ms: Span::from_mins(5), four_eyes: true, four_eyes_from: Vec::new(), replays_max: 3 }
    }
}

/// A rule that approves plans in place of a person. It never replaces the second approver, so it applies only if the
/// policy does not require one. A person must still declare the fix, the gate must be open, and the canary goes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AutoApproval {
    /// The rule's name, which the audit log shows as approver.
    pub name: String,
    /// The covered classes; a class that is not listed needs a person.
    pub classes: Vec<Class>,
    /// The covered categories; empty for all categories of those classes.
    #[serde(default)]
    pub categories: Vec<Category>,
    /// The maximum number of letters. A person's own plan counts as all waiting letters of the group: nobody splits it.
    pub letters_max: u64,
}

impl AutoApproval {
    /// Whether the rule covers a group of this class and category. A guess counts as unknown.
    pub fn covers(&self, found: &Classification) -> bool {
        self.classes.contains(&found.firm_class())
            && (self.categories.is_empty() || self.categories.contains(&found.category))
    }

    /// Whether the rule may approve a plan of this many letters.
    pub fn allows(&self, letters: i64) -> bool {
        u64::try_from(letters).is_ok_and(|letters| letters <= self.letters_max)
    }
}

/// The defaults of replays; a plan may choose other values within the limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ReplayPolicy {
    /// The canary's share of the letters, percent, 1 to 100, rounded up. Default: 5.
    pub canary_pct: u8,
    /// The maximum number of letters in the canary, 1 to 1,000. Default: 10.
    pub canary_letters_max: u64,
    /// The growth factor from each wave to the next, 1 to 100. Default: 5.
    pub growth_factor: u64,
    /// The maximum number of letters in one wave, 1 to 250,000. Default: 5,000.
    pub wave_letters_max: u64,
    /// Letters per second, 1 to 10,000. Default: 50.
    pub pace_per_s: u32,
    /// A replay pauses if more than this share of a wave's letters return, percent, 0 to 90. Default: 50.
    #[serde(alias = "stop_share_pct")]
    pub pause_share_pct: u8,
    /// The same for a canary, the first letters of a fix, percent, 0 to 90. The lower of both counts. Default: 0, so that
    /// any returned letter pauses the replay.
    #[serde(alias = "canary_stop_share_pct")]
    pub canary_pause_share_pct: u8,
    /// The number of letters of a wave that must be sent before the share counts; a smaller wave counts as a whole.
    /// Default: 5.
    pub sample_letters_min: u64,
    /// Added to visibility timeout × maxReceiveCount to get the observation window, milliseconds. Default: 30 s.
    pub window_slack_ms: Span,
    /// How long after the observation window a replay waits for the main queue's backlog to drain before it pauses,
    /// milliseconds. Default: 1 h.
    pub backlog_ms_max: Span,
    /// The mean delay before the second wave, milliseconds; doubles with each further wave, with full jitter. Default:
    /// 10 s.
    #[serde(alias = "rest_ms")]
    pub wave_delay_ms: Span,
    /// The longest delay between two waves, milliseconds. Default: 5 minutes.
    #[serde(alias = "rest_ms_max")]
    pub wave_delay_ms_max: Span,
    /// Whether a letter that is only a pointer to a payload in S3 is sent back, unless the payload is known to be gone.
    /// Default: off.
    pub send_pointers: bool,
}

impl Default for ReplayPolicy {
    fn default() -> Self {
        Self {
            canary_pct: 5,
            canary_letters_max: 10,
            growth_factor: 5,
            wave_letters_max: 5_000,
            pace_per_s: 50,
            pause_share_pct: 50,
            canary_pause_share_pct: 0,
            sample_letters_min: 5,
            window_slack_ms: Span::from_secs(30),
            backlog_ms_max: Span::from_mins(60),
            wave_delay_ms: Span::from_secs(10),
            wave_delay_ms_max: Span::from_mins(5),
            send_pointers: false,
        }
    }
}

/// How messages of one type are read. Pointers are JSON pointers (RFC 6901) into the original body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MessageTypeRule {
    /// The message type, exactly, or `*` for all types.
    pub message_type: String,
    /// Pointer to the amount in the currency's major unit.
    pub amount: Option<String>,
    /// Pointer to the amount in the minor unit (cents); used if `amount` is missing.
    pub amount_minor: Option<String>,
    /// Pointer to the currency, or `=EUR` for a fixed one.
    pub currency: Option<String>,
    /// Pointer to the customer's id.
    pub customer: Option<String>,
    /// Pointer to the deadline: RFC 3339, or milliseconds or seconds since the epoch.
    pub deadline: Option<String>,
    /// The severity of a dead letter of this type.
    pub severity: Option<Severity>,
    /// Whether a replay with letters of this type needs a second approver; the gate's `four_eyes` if missing.
    pub four_eyes: Option<bool>,
    /// Whether consumers may handle a message of this type twice without harm. If missing, what the consumers declare
    /// counts. Letters with money are replayed only if it is so, or if a person waives the condition.
    pub idempotent: Option<bool>,
}

/// A classification rule of the team: all given conditions must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassRule {
    /// The rule's name, shown as the reason.
    pub name: String,
    /// The error type ends with this text.
    #[serde(default)]
    pub error_type: Option<String>,
    /// The error message contains this text.
    #[serde(default)]
    pub message_contains: Option<String>,
    /// The class to assign.
    pub class: Class,
    /// The category to assign.
    pub category: Category,
}

/// A decision of the team about groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupRule {
    /// The name of the group; for a split, only the reason.
    pub name: String,
    /// The fingerprints that the rule matches.
    #[serde(default)]
    pub fingerprints: Vec<GroupId>,
    /// The titles that the rule matches; `*` stands for any text.
    #[serde(default)]
    pub titles: Vec<String>,
    /// What the rule does.
    #[serde(default)]
    pub act: GroupAct,
}

/// The effect of a group rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GroupAct {
    /// Names a group.
    #[default]
    Name,
    /// Merges all matching variants of one main queue into one group with this name.
    Merge,
    /// Keeps each matching variant a group of its own.
    Split,
}
