//! Labels, shapes and tones of states. Every state has a label and a shape, because colour alone is not accessible.

use domain::audit::Act;
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::reading::{Category, Classification, EnvelopeKind, Replayability};
use domain::replay::{Ending, OutcomeKind, Phase, ReplayState, SkipReason};
use domain::role::{Permission, Role};
pub use wire::list::words::{category, class, classified};
use wire::{GroupRow, NextStep, ReplayAnswer};

/// The urgency of a state. Only states that need action are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Act now.
    Danger,
    /// Look soon.
    Warn,
    /// In progress, or ready.
    Info,
    /// Successful.
    Ok,
    /// No action needed.
    Quiet,
}

impl Tone {
    /// Returns the tone's CSS class suffix.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Danger => "danger",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Ok => "ok",
            Self::Quiet => "quiet",
        }
    }
}

/// Returns the tone and shape of a next step.
pub fn step(step: &NextStep) -> (Tone, &'static str) {
    match step {
        NextStep::Regressed => (Tone::Danger, "↺"),
        NextStep::ReplayPaused => (Tone::Danger, "■"),
        NextStep::Growing => (Tone::Danger, "▲"),
        NextStep::Blocked => (Tone::Warn, "✕"),
        NextStep::WaitingForApproval => (Tone::Info, "◐"),
        NextStep::ReplayReady => (Tone::Info, "○"),
        NextStep::FindCause => (Tone::Quiet, "◇"),
        NextStep::Replaying { .. } => (Tone::Info, "◔"),
        NextStep::Resolved => (Tone::Quiet, "✓"),
        NextStep::Discarded => (Tone::Quiet, "–"),
    }
}

/// Returns what stands below a group's class in the list: its category, or that the class is from the consumer's log.
pub fn beside_class(row: &GroupRow) -> &'static str {
    match category(row.classification.category) {
        _ if row.from_logs => "from the logs",
        category if category == classified(&row.classification) => "",
        category => category,
    }
}

/// Returns a group's class and category in one phrase: `Permanent, consumer bug`, or `Unclassified`.
pub fn class_and_category(found: &Classification) -> String {
    match (classified(found), found.category) {
        (class, Category::Unknown) => class.to_string(),
        (class, other) => format!("{class}, {}", category(other).to_ascii_lowercase()),
    }
}

/// Returns a severity's label.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "Info",
        Severity::Warning => "Warning",
        Severity::Critical => "Critical",
    }
}

/// Returns a letter state's label.
pub fn letter_state(kind: LetterStateKind) -> &'static str {
    match kind {
        LetterStateKind::Waiting => "Waiting",
        LetterStateKind::InReplay => "In replay",
        LetterStateKind::Quarantined => "Quarantined",
        LetterStateKind::Delivered => "Delivered",
        LetterStateKind::Discarded => "Discarded",
    }
}

/// Returns the words before the reason why a letter cannot be replayed unchanged.
pub fn not_replayable(replayability: &Replayability) -> &'static str {
    match replayability {
        Replayability::Pointer { .. } => "Replayed only if the policy allows it",
        _ => "Cannot be replayed",
    }
}

/// Returns the label of the envelope that carried a failure.
pub fn envelope(kind: EnvelopeKind) -> &'static str {
    match kind {
        EnvelopeKind::Consumer => "Stamped by the consumer",
        EnvelopeKind::SqsRedrive => "SQS redrive (no error details)",
        EnvelopeKind::LambdaAsync => "Lambda asynchronous dead-letter queue",
        EnvelopeKind::LambdaDestination => "Lambda on-failure destination",
        EnvelopeKind::EventBridgeRule => "EventBridge rule",
        EnvelopeKind::Scheduler => "EventBridge Scheduler",
        EnvelopeKind::Sns => "SNS subscription",
        EnvelopeKind::BodyEnvelope => "Error envelope in the body",
        EnvelopeKind::Stream => "Failed stream batch",
        EnvelopeKind::Pipes => "Failed EventBridge pipe batch",
        EnvelopeKind::EventBridgeEvent => "EventBridge event",
        EnvelopeKind::AwsEvent => "AWS event",
        EnvelopeKind::S3Pointer => "S3 payload pointer",
        EnvelopeKind::StepFunctions => "Step Functions",
        EnvelopeKind::NServiceBus => "NServiceBus",
        EnvelopeKind::MassTransit => "MassTransit",
        EnvelopeKind::SpringKafka => "Spring Kafka",
        EnvelopeKind::KafkaConnect => "Kafka Connect",
        EnvelopeKind::RabbitMq => "RabbitMQ",
        EnvelopeKind::Celery => "Celery",
        EnvelopeKind::Sidekiq => "Sidekiq",
        EnvelopeKind::CloudEvents => "CloudEvents",
        EnvelopeKind::ServiceBus => "Azure Service Bus",
        EnvelopeKind::PubSub => "Google Cloud Pub/Sub",
        EnvelopeKind::Plain => "Plain message",
    }
}

/// Returns an outcome's label.
pub fn outcome(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Pending => "Pending",
        OutcomeKind::Sending => "Sending",
        OutcomeKind::InFlight => "In flight",
        OutcomeKind::Delivered => "Delivered",
        OutcomeKind::Returned => "Returned",
        OutcomeKind::Expired => "Expired",
        OutcomeKind::Skipped => "Skipped",
    }
}

/// Explains why a letter was skipped.
pub fn skip(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::NotWaiting => "No longer waiting: in another replay, or already delivered",
        SkipReason::Discarded => "It was discarded before it was sent",
        SkipReason::Refused => "The queue rejected it permanently",
        SkipReason::Aborted => "The replay was aborted before it was sent",
        SkipReason::InDoubt => "It may have been sent and has not returned; whether it was processed is unknown",
        SkipReason::TransformFailed => "The transform failed",
        SkipReason::PayloadGone => "Its payload no longer exists in S3",
        SkipReason::Behind => "An earlier letter of its message group returned",
        SkipReason::LetterGone => "The letter is no longer stored",
    }
}

/// Whether the canary after a resumption has not passed yet, and belongs to this wave.
pub(crate) fn is_new_canary(view: &ReplayAnswer, wave: u32) -> bool {
    view.replay.resumed.is_some_and(|resumed| resumed.probing && resumed.wave == wave)
}

/// Whether a replay was resumed in a wave that has no letter left for the canary.
pub(crate) fn is_used_up(view: &ReplayAnswer, wave: u32) -> bool {
    let columns = view.ledger.wave(wave);
    is_new_canary(view, wave) && columns.pending + columns.sending + columns.in_flight == 0
}

/// Returns the tone, shape and label of a replay's state.
pub fn replay(view: &ReplayAnswer) -> (Tone, &'static str, String) {
    let waves = view.replay.plan.waves.len();
    match &view.replay.state {
        // It goes on with the canary in the next wave, which is the current one a moment later, or after the delay.
        ReplayState::Running { wave, phase: Phase::Sending | Phase::BetweenWaves { .. } }
            if is_used_up(view, *wave) =>
        {
            (Tone::Info, "◔", "Resuming with a canary".to_string())
        }
        ReplayState::Running { wave, phase } => {
            let doing = match phase {
                Phase::Sending => "sending",
                Phase::Observing { .. } => "observing",
                Phase::BetweenWaves { .. } => "waiting before the next wave",
            };
            // Between waves the canary has passed, or is yet to be sent.
            let is_canary = is_new_canary(view, *wave) && !matches!(phase, Phase::BetweenWaves { .. });
            let part = if is_canary { "Canary of wave" } else { "Wave" };
            (Tone::Info, "◔", format!("{part} {} of {waves}, {doing}", wave + 1))
        }
        ReplayState::Paused { by, .. } if by.as_str() == domain::id::Actor::OFFICE => {
            (Tone::Danger, "■", "Paused automatically".to_string())
        }
        ReplayState::Paused { by, .. } => (Tone::Warn, "◫", format!("Paused by {by}")),
        ReplayState::Aborting { .. } => (Tone::Warn, "◫", "Aborting".to_string()),
        ReplayState::Finished { ending: Ending::Completed, .. } => (Tone::Quiet, "✓", "Finished".to_string()),
        ReplayState::Finished { ending: Ending::Aborted, .. } => (Tone::Quiet, "–", "Aborted".to_string()),
    }
}

/// Returns an action in the past tense, to follow the actor's name.
pub fn act(act: Act) -> &'static str {
    match act {
        Act::GroupOpened => "opened the group",
        Act::GroupsMerged => "merged a fingerprint",
        Act::GroupsUnmerged => "unmerged a fingerprint",
        Act::MergeAllowed => "allowed merging again",
        Act::FixDeclared => "declared a fix",
        Act::TransformSaved => "saved a transform",
        Act::TransformTried => "tried a transform",
        Act::FixWithdrawn => "withdrew the fix",
        Act::NoteChanged => "changed the note",
        Act::OwnerChanged => "changed the owner",
        Act::LogsRequested => "asked to look in the logs",
        Act::PlanBegun => "began a plan",
        Act::PlanCancelled => "cancelled a plan",
        Act::PlanFailed => "ended a plan that was being made",
        Act::ReplayPlanned => "planned a replay",
        Act::ConditionWaived => "waived a condition",
        Act::ReplayApproved => "approved the replay",
        Act::WaveStarted => "started a wave",
        Act::CanaryStarted => "sent a canary",
        Act::WaveSettled => "settled a wave",
        Act::ReplayPausedItself => "paused the replay automatically",
        Act::ReplayPaused => "paused the replay",
        Act::ReplayResumed => "resumed the replay",
        Act::ReplayAborted => "aborted the replay",
        Act::ReplayFinished => "finished the replay",
        Act::GroupResolved => "resolved the group",
        Act::GroupRegressed => "reopened the group",
        Act::LetterQuarantined => "quarantined a letter",
        Act::LettersReleased => "released letters from quarantine",
        Act::DiscardBegun => "decided to discard letters",
        Act::LettersDiscarded => "discarded letters",
        Act::UndoBegun => "decided to take discarded letters back",
        Act::DiscardUndone => "took discarded letters back",
        Act::GroupDiscarded => "closed the group",
        Act::DiscardedDiedAgain => "found that a discarded letter failed again",
        Act::LateReturn => "found that a letter had returned after its outcome was recorded",
        Act::PayloadViewed => "viewed a payload",
        Act::HistoryExported => "exported the history",
        Act::LettersExported => "exported the letters",
    }
}

/// Returns what a permission allows, to follow "cannot".
pub fn permission(permission: Permission) -> &'static str {
    match permission {
        Permission::View => "view groups",
        Permission::Triage => "declare fixes or write notes",
        Permission::Plan => "plan replays",
        Permission::PauseOrAbort => "pause or abort replays",
        Permission::Approve => "approve or resume replays, or discard letters",
        Permission::ReportDeployment => "report deployments",
        Permission::ChangePolicy => "change the policy",
    }
}

/// Explains why a role may not do something, and who can. Returns `None` if it may.
pub fn why_not(role: Role, asked: Permission) -> Option<String> {
    (!role.may(asked)).then(|| {
        format!("{}s cannot {}. Ask {}.", capitalized(role), permission(asked), with_article(asked.least_role()))
    })
}

fn capitalized(role: Role) -> String {
    let name = role.as_str();
    name[..1].to_ascii_uppercase() + &name[1..]
}

fn with_article(role: Role) -> String {
    let name = role.as_str();
    format!("{} {name}", if name.starts_with(['a', 'o']) { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use domain::id::Actor;
    use domain::replay::{PauseReason, Resumed, WaveLedger};
    use domain::time::Timestamp;

    #[test]
    fn a_class_from_the_logs_says_so() {
        let mut row = sample::group_row("g", 1);
        assert_eq!(beside_class(&row), "Timeout");
        row.from_logs = true;
        assert_eq!(beside_class(&row), "from the logs");
        assert_eq!(class_and_category(&row.classification), "Transient, timeout");
        row.classification.category = Category::Unknown;
        row.classification.confidence = domain::reading::Confidence::from_pct(0);
        assert_eq!(class_and_category(&row.classification), "Unclassified", "nothing is said twice");
    }

    #[test]
    fn refusals_name_who_can() {
        let rows = [
            (Role::Viewer, Permission::View, None),
            (
                Role::Viewer,
                Permission::Approve,
                Some("Viewers cannot approve or resume replays, or discard letters. Ask an approver."),
            ),
            (Role::Operator, Permission::Plan, None),
            (
                Role::Operator,
                Permission::Approve,
                Some("Operators cannot approve or resume replays, or discard letters. Ask an approver."),
            ),
            (Role::Admin, Permission::Approve, None),
        ];
        for (role, asked, words) in rows {
            assert_eq!(why_not(role, asked).as_deref(), words);
        }
    }

    #[test]
    fn an_automatic_pause_is_more_urgent_than_a_persons() {
        let paused = |by: &str| ReplayState::Paused {
            wave: 1,
            why: PauseReason::ByPerson { reason: "x".into() },
            by: Actor::new(by),
            at: Timestamp::from_ms(0),
        };
        let two = |pending| WaveLedger { delivered: 2, pending, ..WaveLedger::default() };
        let of = |state: ReplayState, resumed: Option<Resumed>, pending| {
            let mut view = sample::replay(state, &[two(0), two(pending), two(9)]);
            view.replay.resumed = resumed;
            replay(&view)
        };
        assert_eq!(of(paused("office"), None, 8), (Tone::Danger, "■", "Paused automatically".to_string()));
        assert_eq!(of(paused("ana"), None, 8), (Tone::Warn, "◫", "Paused by ana".to_string()));
        let running = || ReplayState::Running { wave: 1, phase: Phase::Sending };
        let resumed = |wave, probing| Some(Resumed { wave, sent: 2, returned: 1, probing });
        for (resumed, pending, label) in [
            (None, 8, "Wave 2 of 3, sending"),
            (resumed(1, true), 8, "Canary of wave 2 of 3, sending"),
            (resumed(1, true), 0, "Resuming with a canary"),
            (resumed(1, false), 8, "Wave 2 of 3, sending"),
            (resumed(0, true), 8, "Wave 2 of 3, sending"),
        ] {
            assert_eq!(of(running(), resumed, pending).2, label);
        }
        let between = ReplayState::Running { wave: 1, phase: Phase::BetweenWaves { until: Timestamp::from_ms(9) } };
        assert_eq!(of(between.clone(), resumed(1, true), 0).2, "Resuming with a canary");
        assert_eq!(of(between, None, 0).2, "Wave 2 of 3, waiting before the next wave");
    }
}
