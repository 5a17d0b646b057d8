//! The policy: what a team decides. Everything has a safe default.

use crate::id::GroupId;
use crate::impact::Severity;
use crate::limits::DELIVERED_KEPT_MIN;
use crate::money::Money;
use crate::reading::{Category, Class};
use crate::time::Span;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The whole policy, as the policy file has it (JSON).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The gate.
    pub gate: GatePolicy,
    /// Replays.
    pub replay: ReplayPolicy,
    /// How messages of a type are read; the first rule whose `message_type` matches wins.
    pub message_types: Vec<MessageTypeRule>,
    /// Classification rules; they come before every table. The first that matches wins.
    pub class_rules: Vec<ClassRule>,
    /// Names of groups, and which are one cause or never are. The first rule that is about a group wins.
    pub groups: Vec<GroupRule>,
    /// What may be replayed without a person's approval. Nothing by default.
    pub auto_approvals: Vec<AutoApproval>,
    /// The retention of the dead-letter queues, where it cannot be read from the queue, milliseconds. 14 days, as
    /// facts.md 8 advises.
    pub retention_ms: Span,
    /// How long a delivered letter is kept, milliseconds; null for ever. 90 days. At least
    /// [`DELIVERED_KEPT_MIN`](crate::limits::DELIVERED_KEPT_MIN), whatever is written here. What is not delivered is
    /// kept until it is. On AWS a change may count for what is delivered after it only.
    pub delivered_kept_ms: Option<Span>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            gate: GatePolicy::default(),
            replay: ReplayPolicy::default(),
            message_types: Vec::new(),
            class_rules: Vec::new(),
            groups: Vec::new(),
            auto_approvals: Vec::new(),
            retention_ms: Span::from_days(14),
            delivered_kept_ms: Some(Span::from_days(90)),
        }
    }
}

impl Policy {
    /// How long delivered letters are kept; none for ever.
    pub fn delivered_kept(&self) -> Option<Span> {
        self.delivered_kept_ms.map(|kept| kept.max(DELIVERED_KEPT_MIN))
    }

    /// Whether a replay of letters of these types must be approved by another person than the declarer of its fix: as
    /// soon as one of the types asks for it. Unknown types are as the gate's default says.
    pub fn four_eyes(&self, message_types: &[Option<String>]) -> bool {
        let asks = |message_type: &Option<String>| {
            let rule = crate::read::costs::rule_for(self, message_type.as_deref());
            rule.and_then(|rule| rule.four_eyes).unwrap_or(self.gate.four_eyes)
        };
        if message_types.is_empty() { self.gate.four_eyes } else { message_types.iter().any(asks) }
    }
}

/// What the gate asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GatePolicy {
    /// No new letter of the group for so long since the fix, milliseconds. 5 minutes.
    pub quiet_ms: Span,
    /// Whether the approver must be another person than the declarer of the fix, where the rule of a message type does
    /// not say otherwise.
    pub four_eyes: bool,
    /// From this sum on, four eyes are asked for even when `four_eyes` is off, per currency.
    pub four_eyes_from: Vec<Money>,
    /// A letter that dies again after this many replays goes into quarantine. 3.
    pub replays_max: u32,
}

impl Default for GatePolicy {
    fn default() -> Self {
        Self { quiet_ms: Span::from_mins(5), four_eyes: true, four_eyes_from: Vec::new(), replays_max: 3 }
    }
}

/// A rule that approves plans: in place of a person, never in place of a second one, so only where the policy does not
/// ask for four eyes. The fix is still a person's claim, the gate must be open, and the canary goes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AutoApproval {
    /// The rule's name: who approved, in the audit.
    pub name: String,
    /// The classes that it covers; a class that is not named needs a person.
    pub classes: Vec<Class>,
    /// The categories; all of those classes when empty.
    #[serde(default)]
    pub categories: Vec<Category>,
    /// A plan of more letters needs a person.
    pub letters_max: u64,
}

impl AutoApproval {
    /// Whether it covers a group of this class and category.
    pub fn covers(&self, class: Class, category: Category) -> bool {
        self.classes.contains(&class) && (self.categories.is_empty() || self.categories.contains(&category))
    }

    /// Whether a plan of so many letters may go without a person.
    pub fn lets_go(&self, letters: i64) -> bool {
        u64::try_from(letters).is_ok_and(|letters| letters <= self.letters_max)
    }
}

/// How replays go by default; a plan may choose other values within the limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ReplayPolicy {
    /// The share of the letters that the canary takes, percent, rounded up. 5.
    pub canary_pct: u8,
    /// The most letters of the canary. 10.
    pub canary_letters_max: u64,
    /// How much larger each wave is than the one before. 5.
    pub growth_factor: u64,
    /// The most letters of one wave. 5,000.
    pub wave_letters_max: u64,
    /// Letters a second. 50.
    pub pace_per_s: u32,
    /// Above this share of returned letters a replay stops itself, percent. 50.
    pub stop_share_pct: u8,
    /// Letters of a wave that must have been sent before the share counts; a smaller wave counts whole. 5.
    pub sample_letters_min: u64,
    /// Added to visibility timeout x maxReceiveCount to make the observation window, milliseconds. 30 s.
    pub window_slack_ms: Span,
    /// How long past its observation window a replay waits for a main queue whose backlog is not drained before it
    /// stops itself, milliseconds. 1 h.
    pub backlog_ms_max: Span,
    /// The mean rest between two waves, milliseconds; doubles with each wave, with full jitter. 10 s.
    #[serde(alias = "rest_ms")]
    pub wave_delay_ms: Span,
    /// The longest rest between two waves, milliseconds. 5 minutes.
    #[serde(alias = "rest_ms_max")]
    pub wave_delay_ms_max: Span,
    /// Whether letters that only point to a payload in S3 are sent back. Off, as nobody has looked whether the payload
    /// is still there.
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
            stop_share_pct: 50,
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
    /// The message type, exactly, or `*` for all.
    pub message_type: String,
    /// Where the amount is, in the currency's major unit.
    pub amount: Option<String>,
    /// Where the amount is, in the minor unit (cents); used when `amount` is not set.
    pub amount_minor: Option<String>,
    /// Where the currency is, or `=EUR` for a fixed one.
    pub currency: Option<String>,
    /// Where the customer's id is.
    pub customer: Option<String>,
    /// Where the deadline is: RFC 3339 or milliseconds or seconds since the epoch.
    pub deadline: Option<String>,
    /// How much a dead letter of this type hurts.
    pub severity: Option<Severity>,
    /// Whether a replay with letters of this type needs a second person; as the gate's `four_eyes` when not given.
    pub four_eyes: Option<bool>,
}

/// A classification by the team's own rule: all parts that are given must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassRule {
    /// The rule's name, shown as the reason.
    pub name: String,
    /// The error type ends with this.
    #[serde(default)]
    pub error_type: Option<String>,
    /// The error message contains this.
    #[serde(default)]
    pub message_contains: Option<String>,
    /// The class to give.
    pub class: Class,
    /// The category to give.
    pub category: Category,
}

/// What the team decided about error groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupRule {
    /// What the group is called; for a split only why.
    pub name: String,
    /// The fingerprints that it is about.
    #[serde(default)]
    pub fingerprints: Vec<GroupId>,
    /// The titles that it is about; `*` stands for any text.
    #[serde(default)]
    pub titles: Vec<String>,
    /// What it does.
    #[serde(default)]
    pub act: GroupAct,
}

/// What a rule about groups does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GroupAct {
    /// It gives a name.
    #[default]
    Name,
    /// All groups of one main queue that it is about are one cause, which bears the name.
    Merge,
    /// Each group that it is about stands for itself.
    Split,
}
