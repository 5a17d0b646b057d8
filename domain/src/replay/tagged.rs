//! Deserialization of a replay's state and pause reasons (see [`crate::tagged`]).

use super::state::{Ending, PauseReason, Phase, ReplayState};
use crate::id::{Actor, LetterId};
use crate::tagged::need;
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The fields that any pause reason may carry.
#[derive(Deserialize)]
struct CarriedReason {
    kind: String,
    returned: Option<u64>,
    sent: Option<u64>,
    #[serde(alias = "stop_share_pct")]
    pause_share_pct: Option<u8>,
    unmet: Option<Vec<String>>,
    detail: Option<String>,
    visible_count: Option<u64>,
    in_flight_count: Option<u64>,
    reason: Option<String>,
    letter: Option<LetterId>,
    wave: Option<u32>,
}

impl<'de> Deserialize<'de> for PauseReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = CarriedReason::deserialize(deserializer)?;
        Ok(match fields.kind.as_str() {
            "too_many_returned" => Self::TooManyReturned {
                returned: need(fields.returned, "returned")?,
                sent: need(fields.sent, "sent")?,
                pause_share_pct: need(fields.pause_share_pct, "pause_share_pct")?,
                wave: fields.wave,
            },
            "gate_closed" => Self::GateClosed { unmet: need(fields.unmet, "unmet")? },
            "queue_unavailable" => Self::QueueUnavailable { detail: need(fields.detail, "detail")? },
            "backlog_not_drained" => {
                Self::BacklogNotDrained { visible_count: need(fields.visible_count, "visible_count")? }
            }
            "queue_never_empty" => Self::QueueNeverEmpty {
                visible_count: need(fields.visible_count, "visible_count")?,
                in_flight_count: need(fields.in_flight_count, "in_flight_count")?,
            },
            "unproven_return" => Self::UnprovenReturn { letter: need(fields.letter, "letter")? },
            "by_person" => Self::ByPerson { reason: need(fields.reason, "reason")? },
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

/// The fields that any state may carry, including a running replay's phase.
#[derive(Deserialize)]
struct CarriedState {
    state: String,
    wave: Option<u32>,
    phase: Option<String>,
    until: Option<Timestamp>,
    why: Option<PauseReason>,
    by: Option<Actor>,
    reason: Option<String>,
    ending: Option<Ending>,
    at: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for ReplayState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = CarriedState::deserialize(deserializer)?;
        let (wave, at, by) = (|| need(fields.wave, "wave"), || need(fields.at, "at"), || need(fields.by, "by"));
        Ok(match fields.state.as_str() {
            "running" => Self::Running { wave: wave()?, phase: phase(fields.phase, fields.until)? },
            "paused" => Self::Paused { wave: wave()?, why: need(fields.why, "why")?, by: by()?, at: at()? },
            // Version 0.1 wrote `stopping`.
            "aborting" | "stopping" => Self::Aborting { by: by()?, reason: need(fields.reason, "reason")?, at: at()? },
            "finished" => Self::Finished { ending: need(fields.ending, "ending")?, at: at()? },
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

fn phase<E: Error>(phase: Option<String>, until: Option<Timestamp>) -> Result<Phase, E> {
    Ok(match need(phase, "phase")?.as_str() {
        "sending" => Phase::Sending,
        "observing" => Phase::Observing { until: need(until, "until")? },
        // Version 0.1 wrote `resting`.
        "between_waves" | "resting" => Phase::BetweenWaves { until: need(until, "until")? },
        other => return Err(E::unknown_variant(other, &[])),
    })
}
