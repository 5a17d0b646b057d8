//! The plan: an immutable list of letters with its waves, pace and thresholds, readable before approval.

use super::block::BLOCK_ENTRIES;
use crate::filter::LetterFilter;
use crate::fix::Fix;
use crate::group::Tally;
use crate::id::{Actor, GroupId, LetterId, QueueArn, ReplayId, hash_hex, to_hex};
use crate::limits::{
    CANARY_LETTERS_MAX, GROWTH_FACTOR_MAX, HAND_LETTERS_MAX, PACE_PER_S_MAX, PAUSE_SHARE_PCT_MAX,
    PLAN_FIFO_LETTERS_MAX, PLAN_LETTERS_MAX, WAVES_MAX, WINDOW_S_MAX,
};
use crate::policy::ReplayPolicy;
use crate::time::{Span, Timestamp};
use crate::wrapped::Wrapped;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The exact identity of a plan's content. An approval names it; a changed plan has another hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct PlanHash(pub String);

/// The options that a person may choose; the policy decides everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanOptions {
    /// Letters in the canary, 1 to 1,000, and no more than the policy's largest wave.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = CANARY_LETTERS_MAX)))]
    pub canary_letters: Option<u64>,
    /// The growth factor from each wave to the next, 1 to 100.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = GROWTH_FACTOR_MAX)))]
    pub growth_factor: Option<u64>,
    /// Letters per second, 1 to 10,000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = PACE_PER_S_MAX)))]
    pub pace_per_s: Option<u32>,
    /// The share of returned letters above which the replay pauses, percent, 0 to 90.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = PAUSE_SHARE_PCT_MAX)))]
    #[serde(alias = "stop_share_pct")]
    pub pause_share_pct: Option<u8>,
    /// The same for a canary, percent, 0 to 90. The lower of both counts.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = PAUSE_SHARE_PCT_MAX)))]
    #[serde(alias = "canary_stop_share_pct")]
    pub canary_pause_share_pct: Option<u8>,
    /// How long a sent letter is observed, seconds: at least the window that follows from the main queue's settings,
    /// at most one day.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = WINDOW_S_MAX)))]
    pub window_s: Option<u64>,
}

/// Letters of the group that are not included in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The reason, in words.
    pub reason: String,
    /// The number of letters.
    pub letters: u64,
}

/// A plan. Immutable; the replay and its ledger record what happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The id of the plan and of its replay.
    pub id: ReplayId,
    /// The group.
    pub group: GroupId,
    /// Where the letters are sent: their original main queue.
    pub main_queue: QueueArn,
    /// Who made it.
    pub made_by: Actor,
    /// When it was made; also the cut-off: letters that died later are not included.
    pub made_at: Timestamp,
    /// The fix that it was made for.
    pub fix: Fix,
    /// The filter that selected its letters.
    #[serde(default, skip_serializing_if = "LetterFilter::is_none")]
    pub filter: LetterFilter,
    /// Whether a person named its letters one by one. Then the filter is empty.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub named: bool,
    /// The number of letters, and their money.
    pub letters: Tally,
    /// Their message types, sorted; `None` for letters without a type.
    pub message_types: Vec<Option<String>>,
    /// SHA-256 over the ids of the letters in plan order, block by block, hex.
    pub letters_digest: String,
    /// Time of the oldest first send among the letters.
    pub oldest_sent_at: Option<Timestamp>,
    /// Letters that are not included.
    pub left_out: Vec<LeftOut>,
    /// Included letters with a payload whose presence could not be checked, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<LeftOut>,
    /// Included letters that look like error envelopes.
    #[serde(default, skip_serializing_if = "Wrapped::is_none")]
    pub wrapped: Wrapped,
    /// The size of each wave; the first wave is the canary.
    pub waves: Vec<u64>,
    /// The number of consecutive observation windows, at least one per wave (see [`super::rounds`]).
    pub rounds: u64,
    /// Letters per second.
    pub pace_per_s: u32,
    /// The share of returned letters above which the replay pauses, percent.
    #[serde(alias = "stop_share_pct")]
    pub pause_share_pct: u8,
    /// The same for a canary, percent; the lower of both counts. `None` in plans of older versions, whose canaries had no
    /// rule of their own.
    #[serde(default, alias = "canary_stop_share_pct", skip_serializing_if = "Option::is_none")]
    pub canary_pause_share_pct: Option<u8>,
    /// The number of letters of a wave that must be sent before the share counts.
    pub sample_letters_min: u64,
    /// How long a sent letter is observed: visibility timeout × maxReceiveCount of the main queue, plus slack.
    pub window_ms: Span,
    /// The slack in the window. After it the office checks whether the main queue's backlog is drained. A letter that
    /// has not been received cannot return, so the consumer's attempts count from then.
    pub slack_ms: Span,
    /// How long after the window the replay waits for the backlog before it pauses.
    pub backlog_ms_max: Span,
    /// The mean delay before the second wave; doubles with each further wave.
    #[serde(alias = "rest_ms")]
    pub wave_delay_ms: Span,
    /// The longest delay between waves.
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
    #[error("{letters} letters exceed the maximum of one plan ({PLAN_LETTERS_MAX}); narrow the filter")]
    TooManyLetters {
        /// The number of letters.
        letters: u64,
    },
    /// Too many letters wait for a plan of a FIFO queue, whose order is known only once all of them are read.
    #[error(
        "{letters} letters wait in this group, and a plan for a FIFO queue reads them all at once: at most {PLAN_FIFO_LETTERS_MAX}. Select letters one by one, or discard those that need no replay"
    )]
    TooManyInOrder {
        /// The number of letters.
        letters: u64,
    },
    /// The waves would grow too slowly.
    #[error(
        "the waves grow too slowly: more than {WAVES_MAX} would be needed; choose a larger canary or growth factor"
    )]
    TooManyWaves,
    /// An option is out of range.
    #[error("`{option}` must be between {min} and {max}")]
    OutOfRange {
        /// The option's name.
        option: &'static str,
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// The observation window is shorter than a returning letter takes on this main queue.
    #[error(
        "`window_s` must be at least {min} for this main queue, whose visibility timeout and receives say how long a letter takes to return"
    )]
    WindowTooShort {
        /// The shortest window, seconds.
        min: u64,
    },
}

impl Plan {
    /// Returns the hash of everything in the plan.
    pub fn hash(&self) -> PlanHash {
        // The JSON of a struct has its fields in a fixed order, so equal plans have equal text.
        let text = serde_json::to_string(self).unwrap_or_default();
        PlanHash(hash_hex(&["plan", "1", &text]))
    }

    /// Returns the share of returned letters above which the replay pauses, percent. A canary's is never the higher one.
    pub fn pause_share_pct_of(&self, is_canary: bool) -> u8 {
        let of_canary = self.canary_pause_share_pct.filter(|_| is_canary);
        of_canary.map_or(self.pause_share_pct, |pct| pct.min(self.pause_share_pct))
    }

    /// Returns the maximum number of letters that still go out after a pause: those that the executor has in hand then. It
    /// never has more than the pace allows in a second, or a wave has.
    pub fn in_hand_max(&self) -> u64 {
        let wave = self.waves.iter().max().copied().unwrap_or_default();
        (HAND_LETTERS_MAX as u64).min(u64::from(self.pace_per_s.max(1))).min(wave)
    }

    /// Returns the expected duration if nothing returns: sending at the plan's pace, one window per round, mean delays
    /// between waves.
    pub fn duration_estimate(&self) -> Span {
        let letters: u64 = self.waves.iter().sum();
        let sending = Span::from_ms((letters * 1000 / u64::from(self.pace_per_s.max(1))) as i64);
        let observing = self.window_ms.times(self.rounds as i64);
        let waiting = (1..self.waves.len() as u32)
            .fold(Span::ZERO, |sum, wave| sum.plus(Span::from_ms(wave_delay_ceiling(self, wave).as_ms() / 2)));
        sending.plus(observing).plus(waiting)
    }
}

/// Returns the longest delay before a wave: doubles with each wave, up to the plan's maximum.
pub(super) fn wave_delay_ceiling(plan: &Plan, wave: u32) -> Span {
    let doublings = wave.saturating_sub(1).min(30);
    plan.wave_delay_ms.times(2 << doublings).min(plan.wave_delay_ms_max)
}

/// Returns a digest over the letters in order. It goes over blocks: each one's ids follow the digest of those before, so
/// that a plan that is made in steps goes on from any full block without its letters.
pub fn letters_digest<'a>(ids: impl Iterator<Item = &'a LetterId>) -> String {
    let ids: Vec<&LetterId> = ids.collect();
    ids.chunks(BLOCK_ENTRIES).fold(String::new(), |before, block| digest_with(&before, block.iter().copied()))
}

/// Returns the digest after one more block.
pub(super) fn digest_with<'a>(before: &str, block: impl Iterator<Item = &'a LetterId>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(before.as_bytes());
    for id in block {
        hasher.update(b"\n");
        hasher.update(id.as_str().as_bytes());
    }
    to_hex(&hasher.finalize())
}

/// Returns the sizes of the waves: a canary, then growing by a factor up to a cap. Their sum is `letters`.
///
/// ```
/// use domain::policy::ReplayPolicy;
/// use domain::replay::{PlanOptions, plan_waves};
///
/// let waves = plan_waves(1_000, &ReplayPolicy::default(), &PlanOptions::default())?;
/// assert_eq!(waves, [10, 50, 250, 690]);
/// # Ok::<(), domain::replay::PlanError>(())
/// ```
pub fn plan_waves(letters: u64, policy: &ReplayPolicy, options: &PlanOptions) -> Result<Vec<u64>, PlanError> {
    if letters == 0 {
        return Err(PlanError::NoLetters);
    }
    if letters > PLAN_LETTERS_MAX {
        return Err(PlanError::TooManyLetters { letters });
    }
    cut(WaveSizes::new(letters, policy, options)?, letters)
}

/// Returns the sizes of the waves of so many letters.
pub(super) fn cut(mut sizes: WaveSizes, letters: u64) -> Result<Vec<u64>, PlanError> {
    let (mut waves, mut left) = (Vec::new(), letters);
    while left > 0 {
        if waves.len() == WAVES_MAX {
            return Err(PlanError::TooManyWaves);
        }
        let wave = sizes.grow().min(left);
        waves.push(wave);
        left -= wave;
    }
    Ok(waves)
}

/// The sizes of waves without an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaveSizes {
    next: u64,
    factor: u64,
    largest: u64,
}

impl WaveSizes {
    /// Returns the sizes for a plan of so many letters: the policy's canary is a share of them.
    pub(super) fn new(letters: u64, policy: &ReplayPolicy, options: &PlanOptions) -> Result<Self, PlanError> {
        let by_policy =
            (letters * u64::from(policy.canary_pct)).div_ceil(100).clamp(1, policy.canary_letters_max.max(1));
        let (canary, factor) = options.canary_and_growth(policy)?;
        let largest = policy.wave_letters_max.max(1);
        Ok(Self { next: canary.unwrap_or(by_policy.min(largest)), factor, largest })
    }

    /// Returns the sizes with this canary.
    pub(super) fn with_canary(canary: u64, policy: &ReplayPolicy, options: &PlanOptions) -> Result<Self, PlanError> {
        let (_, factor) = options.canary_and_growth(policy)?;
        Ok(Self { next: canary.max(1), factor, largest: policy.wave_letters_max.max(1) })
    }

    /// Returns the size of the first wave.
    pub(super) fn first(self) -> u64 {
        self.next
    }

    /// Returns the size of the next wave.
    fn grow(&mut self) -> u64 {
        let size = self.next;
        self.next = size.saturating_mul(self.factor).min(self.largest);
        size
    }

    /// Returns the wave of each letter from this sequence number on, without an end.
    pub(super) fn waves_from(mut self, seq: u64) -> impl Iterator<Item = u32> {
        let (mut wave, mut left) = (0, self.grow());
        let mut skipped = seq;
        while skipped >= left {
            skipped -= left;
            (wave, left) = (wave + 1, self.grow());
        }
        left -= skipped;
        core::iter::from_fn(move || {
            if left == 0 {
                (wave, left) = (wave + 1, self.grow());
            }
            left -= 1;
            Some(wave)
        })
    }
}

fn in_range(option: &'static str, value: u64, min: u64, max: u64) -> Result<u64, PlanError> {
    if (min..=max).contains(&value) { Ok(value) } else { Err(PlanError::OutOfRange { option, min, max }) }
}

impl PlanOptions {
    /// Returns the chosen observation window, or the one derived from the main queue, which is the minimum.
    pub fn window(&self, derived: Span) -> Result<Span, PlanError> {
        let min = derived.as_secs_up().unsigned_abs();
        match self.window_s {
            None => Ok(derived),
            Some(s) if s < min => Err(PlanError::WindowTooShort { min }),
            Some(s) => Ok(Span::from_secs(in_range("window_s", s, min, WINDOW_S_MAX.max(min))? as i64)),
        }
    }

    /// Checks every range that does not depend on the letters or the main queue.
    pub fn check(&self, policy: &ReplayPolicy) -> Result<(), PlanError> {
        self.canary_and_growth(policy)?;
        self.pace_and_share(policy)?;
        self.canary_share(policy)?;
        self.window_s.map_or(Ok(0), |s| in_range("window_s", s, 1, WINDOW_S_MAX)).map(drop)
    }

    /// Returns the chosen size of the canary, if one was chosen, and the growth factor, within their ranges.
    fn canary_and_growth(&self, policy: &ReplayPolicy) -> Result<(Option<u64>, u64), PlanError> {
        let canary_max = CANARY_LETTERS_MAX.min(policy.wave_letters_max.max(1));
        let canary = self.canary_letters.map(|n| in_range("canary_letters", n, 1, canary_max)).transpose()?;
        let factor = self.growth_factor.unwrap_or(policy.growth_factor);
        Ok((canary, in_range("growth_factor", factor, 1, GROWTH_FACTOR_MAX)?))
    }

    /// Returns the chosen pace and share, or the policy's, within their ranges.
    pub fn pace_and_share(&self, policy: &ReplayPolicy) -> Result<(u32, u8), PlanError> {
        let (pace, share) =
            (self.pace_per_s.unwrap_or(policy.pace_per_s), self.pause_share_pct.unwrap_or(policy.pause_share_pct));
        let pace = in_range("pace_per_s", pace.into(), 1, PACE_PER_S_MAX.into())?;
        let share = in_range("pause_share_pct", share.into(), 0, PAUSE_SHARE_PCT_MAX.into())?;
        Ok((pace as u32, share as u8))
    }

    /// Returns the chosen share of a canary, or the policy's, within its range.
    pub fn canary_share(&self, policy: &ReplayPolicy) -> Result<u8, PlanError> {
        let share = self.canary_pause_share_pct.unwrap_or(policy.canary_pause_share_pct);
        in_range("canary_pause_share_pct", share.into(), 0, PAUSE_SHARE_PCT_MAX.into()).map(|share| share as u8)
    }
}

impl core::fmt::Display for PlanHash {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl ReplayId {
    /// Returns the id of a plan from its group, author and time.
    pub fn for_plan(group: &GroupId, made_by: &Actor, at: Timestamp) -> Self {
        Self::new(hash_hex(&["replay", group.as_str(), made_by.as_str(), &format!("{}", at.as_ms()).to_string()]))
    }
}
