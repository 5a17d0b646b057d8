//! The words, shapes and tones of states. Every state has a word and a shape; colour never speaks alone.

use domain::audit::Act;
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::reading::{Category, Class, EnvelopeKind, Replayability};
use domain::replay::{Ending, OutcomeKind, Phase, ReplayState, SkipReason, Verdict};
use domain::role::{Permission, Role};
use wire::NextStep;

/// What a state asks of its reader. Only what asks for action is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Act now.
    Danger,
    /// Look soon.
    Warn,
    /// Under way, or ready to go.
    Info,
    /// Done well.
    Ok,
    /// Nothing to do.
    Quiet,
}

impl Tone {
    /// The tone's word in class names.
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

/// Tone and shape of a next step.
pub fn step(step: &NextStep) -> (Tone, &'static str) {
    match step {
        NextStep::Regressed => (Tone::Danger, "↺"),
        NextStep::ReplayPaused => (Tone::Danger, "■"),
        NextStep::Growing => (Tone::Danger, "▲"),
        NextStep::ReplayReady => (Tone::Info, "○"),
        NextStep::FindCause => (Tone::Quiet, "◇"),
        NextStep::Replaying { .. } => (Tone::Info, "◔"),
        NextStep::Resolved => (Tone::Quiet, "✓"),
    }
}

/// A class by name.
pub fn class(class: Class) -> &'static str {
    match class {
        Class::Transient => "Transient",
        Class::Permanent => "Permanent",
        Class::Unknown => "Unknown",
    }
}

/// A category by name.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::Timeout => "Timeout",
        Category::Throttled => "Throttled",
        Category::DependencyUnavailable => "Dependency down",
        Category::MalformedPayload => "Malformed payload",
        Category::SchemaViolation => "Schema violation",
        Category::BusinessRule => "Business rule",
        Category::MissingReference => "Missing reference",
        Category::Auth => "Not allowed",
        Category::Conflict => "Conflict",
        Category::Duplicate => "Duplicate",
        Category::ResourceLimit => "Resource limit",
        Category::ConsumerBug => "Consumer bug",
        Category::Configuration => "Configuration",
        Category::Expired => "Expired",
        Category::InvalidTenant => "Invalid tenant",
        Category::Unknown => "Unknown",
    }
}

/// A severity by name.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "Nobody notices",
        Severity::Warning => "Customers notice",
        Severity::Critical => "Customers are harmed",
    }
}

/// A letter's state by name.
pub fn letter_state(kind: LetterStateKind) -> &'static str {
    match kind {
        LetterStateKind::Waiting => "Waiting",
        LetterStateKind::InReplay => "In replay",
        LetterStateKind::Quarantined => "Quarantined",
        LetterStateKind::Delivered => "Delivered",
    }
}

/// What is said before the reason why a letter is not sent back as it is.
pub fn unsendable(replayability: &Replayability) -> &'static str {
    match replayability {
        Replayability::Pointer { .. } => "Sent back only if the policy says so",
        _ => "Cannot be sent back",
    }
}

/// How a failure was carried, by name.
pub fn envelope(kind: EnvelopeKind) -> &'static str {
    match kind {
        EnvelopeKind::Consumer => "Stamped by the consumer",
        EnvelopeKind::SqsRedrive => "SQS redrive (carries no reason)",
        EnvelopeKind::LambdaAsync => "Lambda asynchronous dead-letter queue",
        EnvelopeKind::LambdaDestination => "Lambda on-failure destination",
        EnvelopeKind::EventBridgeRule => "EventBridge rule",
        EnvelopeKind::Scheduler => "EventBridge Scheduler",
        EnvelopeKind::Sns => "SNS subscription",
        EnvelopeKind::BodyEnvelope => "Error envelope in the body",
        EnvelopeKind::Stream => "Failed batch of a stream",
        EnvelopeKind::Pipes => "Failed batch of an EventBridge pipe",
        EnvelopeKind::EventBridgeEvent => "EventBridge event",
        EnvelopeKind::AwsEvent => "AWS event",
        EnvelopeKind::S3Pointer => "Pointer to a payload in S3",
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

/// An outcome by name. "Came back" is what people say of a returned letter.
pub fn outcome(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Pending => "To go",
        OutcomeKind::Sending => "Being sent",
        OutcomeKind::InFlight => "In flight",
        OutcomeKind::Delivered => "Delivered",
        OutcomeKind::Returned => "Came back",
        OutcomeKind::Expired => "Expired",
        OutcomeKind::Skipped => "Skipped",
    }
}

/// What a return says of the fix.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::SameCause => "Same cause: the fix did not work for it",
        Verdict::NewCause => "Another cause: the fix uncovered it",
        Verdict::Transient => "Transient: says nothing against the fix",
    }
}

/// Why a letter was not sent.
pub fn skip(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::NotWaiting => "No longer waiting: another replay had it, or it was delivered",
        SkipReason::Refused => "The queue refused it for good",
        SkipReason::Aborted => "The replay was stopped before its turn",
        SkipReason::InDoubt => "The replay was stopped while its sending was in doubt; it has not come back",
        SkipReason::TransformFailed => "The transform fails on it",
        SkipReason::PayloadGone => "The payload that it points to is gone from S3",
        SkipReason::Behind => "A letter before it in its message group came back",
        SkipReason::Gone => "The letter is no longer kept",
    }
}

/// Where a replay is: tone, shape and words.
pub fn replay(state: &ReplayState, waves: usize) -> (Tone, &'static str, String) {
    match state {
        ReplayState::Running { wave, phase } => {
            let doing = match phase {
                Phase::Sending => "sending",
                Phase::Observing { .. } => "observing",
                Phase::BetweenWaves { .. } => "resting before the next",
            };
            (Tone::Info, "◔", format!("Wave {} of {waves}, {doing}", wave + 1))
        }
        ReplayState::Paused { by, .. } if by.as_str() == domain::id::Actor::OFFICE => {
            (Tone::Danger, "■", "Stopped itself".to_string())
        }
        ReplayState::Paused { by, .. } => (Tone::Warn, "◫", format!("Paused by {by}")),
        ReplayState::Aborting { .. } => (Tone::Warn, "◫", "Stopping".to_string()),
        ReplayState::Finished { ending: Ending::Completed, .. } => (Tone::Quiet, "✓", "Finished".to_string()),
        ReplayState::Finished { ending: Ending::Aborted, .. } => (Tone::Quiet, "–", "Ended by a person".to_string()),
    }
}

/// What happened, as the timeline says it after the actor's name.
pub fn act(act: Act) -> &'static str {
    match act {
        Act::GroupOpened => "opened the group",
        Act::GroupsMerged => "merged a fingerprint",
        Act::GroupsUnmerged => "took a fingerprint out",
        Act::MergeAllowed => "allowed it to be merged again",
        Act::FixDeclared => "declared a fix",
        Act::TransformSaved => "saved a transform",
        Act::TransformTried => "tried a transform",
        Act::FixWithdrawn => "withdrew the fix",
        Act::NoteChanged => "changed the note",
        Act::ReplayPlanned => "planned a replay",
        Act::ConditionWaived => "waived a condition",
        Act::ReplayApproved => "approved the replay",
        Act::WaveStarted => "started a wave",
        Act::WaveSettled => "settled a wave",
        Act::ReplayPausedItself => "stopped the replay",
        Act::ReplayPaused => "paused the replay",
        Act::ReplayResumed => "let the replay go on",
        Act::ReplayAborted => "ended the replay",
        Act::ReplayFinished => "finished the replay",
        Act::GroupResolved => "resolved the group",
        Act::GroupRegressed => "reopened the group",
        Act::LetterQuarantined => "put a letter into quarantine",
        Act::LettersReleased => "let letters out of quarantine",
        Act::LateReturn => "saw a delivered letter come back",
    }
}

/// What a permission lets a person do, after "may not".
pub fn permission(permission: Permission) -> &'static str {
    match permission {
        Permission::View => "look at groups",
        Permission::Triage => "declare fixes or write notes",
        Permission::Plan => "plan replays",
        Permission::Stop => "pause or end replays",
        Permission::Approve => "approve or resume replays",
        Permission::ReportDeployment => "report deployments",
    }
}

/// Why somebody of this role may not do something and who can; none if they may.
pub fn why_not(role: Role, asked: Permission) -> Option<String> {
    (!role.may(asked)).then(|| {
        let least = asked.least_role();
        format!("{} may not {}; {} can.", article(role, true), permission(asked), article(least, false))
    })
}

fn article(role: Role, start: bool) -> String {
    let name = role.as_str();
    let article = match (name.starts_with(['a', 'o']), start) {
        (true, true) => "An",
        (true, false) => "an",
        (false, true) => "A",
        (false, false) => "a",
    };
    format!("{article} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::Actor;
    use domain::replay::PauseReason;
    use domain::time::Timestamp;

    #[test]
    fn refusals_say_who_can() {
        let rows = [
            (Role::Viewer, Permission::View, None),
            (Role::Viewer, Permission::Approve, Some("A viewer may not approve or resume replays; an approver can.")),
            (Role::Operator, Permission::Plan, None),
            (
                Role::Operator,
                Permission::Approve,
                Some("An operator may not approve or resume replays; an approver can."),
            ),
            (Role::Admin, Permission::Approve, None),
        ];
        for (role, asked, words) in rows {
            assert_eq!(why_not(role, asked).as_deref(), words);
        }
    }

    #[test]
    fn a_replay_that_stopped_itself_is_not_merely_paused() {
        let paused = |by: &str| ReplayState::Paused {
            wave: 1,
            why: PauseReason::ByPerson { reason: "x".into() },
            by: Actor::new(by),
            at: Timestamp::from_ms(0),
        };
        assert_eq!(replay(&paused("office"), 3), (Tone::Danger, "■", "Stopped itself".to_string()));
        assert_eq!(replay(&paused("ana"), 3), (Tone::Warn, "◫", "Paused by ana".to_string()));
        let running = ReplayState::Running { wave: 1, phase: Phase::Sending };
        assert_eq!(replay(&running, 3).2, "Wave 2 of 3, sending");
    }
}
