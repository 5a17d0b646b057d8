//! The plan: an immutable list of letters, its waves, pace and thresholds, readable before anybody approves it.

use crate::filter::LetterFilter;
use crate::fix::Fix;
use crate::group::Tally;
use crate::id::{Actor, GroupId, LetterId, QueueArn, ReplayId, hash_hex, to_hex};
use crate::limits::{PLAN_LETTERS_MAX, WAVES_MAX, WINDOW_S_MAX};
use crate::policy::ReplayPolicy;
use crate::time::{Span, Timestamp};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What names a plan's content exactly. An approval carries it; a changed plan has another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct PlanHash(pub String);

/// What a person may choose; everything else follows from the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanOptions {
    /// Letters of the canary.
    pub canary_letters: Option<u64>,
    /// How much larger each wave is than the one before, 1 to 100.
    pub growth_factor: Option<u64>,
    /// Letters a second, 1 to 10,000.
    pub pace_per_s: Option<u32>,
    /// The share of returned letters above which the replay stops itself, percent, 0 to 100.
    pub stop_share_pct: Option<u8>,
    /// How long a sent letter is observed, seconds: never less than what the main queue's own settings ask for, at most
    /// a day.
    pub window_s: Option<u64>,
}

/// Letters of the group that the plan leaves out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The reason, in words.
    pub reason: String,
    /// How many.
    pub letters: u64,
}

/// A plan. Nothing in it ever changes; what happens is in the replay and its ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The id of the plan and of the replay that it may become.
    pub id: ReplayId,
    /// The group.
    pub group: GroupId,
    /// Where the letters go: their own main queue, never another.
    pub main_queue: QueueArn,
    /// Who made it.
    pub made_by: Actor,
    /// When, which is also the cut-off: letters that died later are not in it.
    pub made_at: Timestamp,
    /// The fix that it is made for.
    pub fix: Fix,
    /// Which letters of the group it is made of.
    #[serde(default, skip_serializing_if = "LetterFilter::is_none")]
    pub filter: LetterFilter,
    /// How many letters, and their money.
    pub letters: Tally,
    /// The kinds of message among them, in their order; none for letters that do not say.
    pub message_types: Vec<Option<String>>,
    /// SHA-256 over the ids of the letters in their order, hex.
    pub letters_digest: String,
    /// When the oldest of the letters was first sent.
    pub oldest_sent_at: Option<Timestamp>,
    /// Letters that are left out.
    pub left_out: Vec<LeftOut>,
    /// Which of the letters go although nobody could see whether what they point to is still there, and why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<LeftOut>,
    /// The size of each wave; the first is the canary.
    pub waves: Vec<u64>,
    /// Observation windows that follow each other, at least one for each wave (see [`super::rounds`]).
    pub rounds: u64,
    /// Letters a second.
    pub pace_per_s: u32,
    /// The share of returned letters above which the replay stops itself, percent.
    pub stop_share_pct: u8,
    /// Letters of a wave that must have been sent before the share counts.
    pub sample_letters_min: u64,
    /// How long a sent letter is observed: visibility timeout x maxReceiveCount of the main queue, plus slack.
    pub window_ms: Span,
    /// The slack in the window. After it the main queue is asked whether its backlog is drained: a letter that nobody
    /// has received cannot come back, so the consumer's attempts count from then.
    pub slack_ms: Span,
    /// How long past the window a backlog is waited for before the replay stops itself.
    pub backlog_ms_max: Span,
    /// The mean rest before the second wave; doubles with each wave.
    #[serde(alias = "rest_ms")]
    pub wave_delay_ms: Span,
    /// The longest rest.
    #[serde(alias = "rest_ms_max")]
    pub wave_delay_ms_max: Span,
}

/// Why no plan can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No letter of the group can be sent.
    #[error("no letter of this group can be replayed now")]
    NoLetters,
    /// Too many letters for one plan.
    #[error("{letters} letters are more than one plan takes ({PLAN_LETTERS_MAX})")]
    TooManyLetters {
        /// How many there are.
        letters: u64,
    },
    /// The waves would grow too slowly.
    #[error("these waves grow too slowly: it would take more than {WAVES_MAX}; choose a larger canary or growth")]
    TooManyWaves,
    /// An option is out of its range.
    #[error("{option} must be between {min} and {max}")]
    OutOfRange {
        /// The option's name.
        option: &'static str,
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
    },
}

impl Plan {
    /// The hash of everything in the plan.
    pub fn hash(&self) -> PlanHash {
        // The JSON of a struct has its fields in a fixed order, so equal plans give equal text.
        let text = serde_json::to_string(self).unwrap_or_default();
        PlanHash(hash_hex(&["plan", "1", &text]))
    }

    /// How long it takes if nothing comes back: sending at the plan's pace, a window for each round, a mean rest
    /// between waves.
    pub fn duration_estimate(&self) -> Span {
        let letters: u64 = self.waves.iter().sum();
        let sending = Span::from_ms((letters * 1000 / u64::from(self.pace_per_s.max(1))) as i64);
        let observing = self.window_ms.times(self.rounds as i64);
        let resting = (1..self.waves.len() as u32)
            .fold(Span::ZERO, |sum, wave| sum.plus(Span::from_ms(wave_delay_ceiling(self, wave).as_ms() / 2)));
        sending.plus(observing).plus(resting)
    }
}

/// The longest rest before a wave: doubles with each wave, up to the plan's maximum.
pub(super) fn wave_delay_ceiling(plan: &Plan, wave: u32) -> Span {
    let doublings = wave.saturating_sub(1).min(30);
    plan.wave_delay_ms.times(2 << doublings).min(plan.wave_delay_ms_max)
}

/// A digest over the letters in their order, fed piece by piece so that a million ids need no memory.
pub fn letters_digest<'a>(ids: impl Iterator<Item = &'a LetterId>) -> String {
    let mut hasher = Sha256::new();
    for id in ids {
        hasher.update(id.as_str().as_bytes());
        hasher.update(b"\n");
    }
    to_hex(&hasher.finalize())
}

/// The sizes of the waves: a canary, then growing by a factor up to a cap. The sum is `letters`.
pub fn plan_waves(letters: u64, policy: &ReplayPolicy, options: &PlanOptions) -> Result<Vec<u64>, PlanError> {
    if letters == 0 {
        return Err(PlanError::NoLetters);
    }
    if letters > PLAN_LETTERS_MAX {
        return Err(PlanError::TooManyLetters { letters });
    }
    let by_policy = (letters * u64::from(policy.canary_pct)).div_ceil(100).clamp(1, policy.canary_letters_max.max(1));
    let canary = in_range("canary_letters", options.canary_letters.unwrap_or(by_policy), 1, policy.wave_letters_max)?;
    let factor = in_range("growth_factor", options.growth_factor.unwrap_or(policy.growth_factor), 1, 100)?;
    let mut waves = Vec::new();
    let (mut left, mut size) = (letters, canary);
    while left > 0 {
        if waves.len() == WAVES_MAX {
            return Err(PlanError::TooManyWaves);
        }
        let wave = size.min(left);
        waves.push(wave);
        left -= wave;
        size = size.saturating_mul(factor).min(policy.wave_letters_max.max(1));
    }
    Ok(waves)
}

fn in_range(option: &'static str, value: u64, min: u64, max: u64) -> Result<u64, PlanError> {
    if (min..=max).contains(&value) { Ok(value) } else { Err(PlanError::OutOfRange { option, min, max }) }
}

impl PlanOptions {
    /// The observation window as chosen, or the one that is derived from the main queue, which is the shortest.
    pub fn window(&self, derived: Span) -> Result<Span, PlanError> {
        let least = derived.as_secs_up().unsigned_abs();
        let chosen = self.window_s.map(|s| in_range("window_s", s, least, WINDOW_S_MAX.max(least))).transpose()?;
        Ok(chosen.map_or(derived, |s| Span::from_secs(s as i64)))
    }

    /// Pace and stop share as chosen or by policy, in their ranges.
    pub fn pace_and_share(&self, policy: &ReplayPolicy) -> Result<(u32, u8), PlanError> {
        let pace = in_range("pace_per_s", self.pace_per_s.unwrap_or(policy.pace_per_s).into(), 1, 10_000)?;
        let share = in_range("stop_share_pct", self.stop_share_pct.unwrap_or(policy.stop_share_pct).into(), 0, 100)?;
        Ok((pace as u32, share as u8))
    }
}

impl core::fmt::Display for PlanHash {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl ReplayId {
    /// The id of a plan for a group, made by somebody at a moment.
    pub fn of(group: &GroupId, made_by: &Actor, at: Timestamp) -> Self {
        Self::new(hash_hex(&["replay", group.as_str(), made_by.as_str(), &format!("{}", at.as_ms()).to_string()]))
    }
}
