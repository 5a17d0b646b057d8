//! Reading the facts that the gate is judged by.

use crate::error::OfficeError;
use crate::office::Office;
use crate::port::QueueError;
use domain::deployment::{Attached, Deployment};
use domain::filter::LetterFilter;
use domain::fix::Fix;
use domain::gate::{Gate, GateFacts, QueueFact, evaluate};
use domain::group::{GroupCounts, Tally, Variant};
use domain::id::{Actor, QueueArn};
use domain::replay::Waiver;

/// On what occasion the gate is judged: what the caller knows beyond the store.
pub(crate) struct Occasion<'a> {
    /// The fix that counts.
    pub fix: Option<&'a Fix>,
    /// The letters that would be sent.
    pub letters: &'a Tally,
    /// Which letters that is.
    pub filter: &'a LetterFilter,
    /// What is left out, in words.
    pub left_out: &'a [String],
    /// What would be sent unseen, in words.
    pub unchecked: &'a [String],
    /// Who would approve.
    pub approver: Option<&'a Actor>,
    /// What was set aside.
    pub waivers: &'a [Waiver],
    /// What the main queue says.
    pub queue: QueueFact,
    /// The kinds of message that would be sent.
    pub message_types: &'a [Option<String>],
    /// Whether deaths since the fix speak against it. Not between waves: there the share of returned letters judges.
    pub deaths_count: bool,
}

/// Judges the gate of a group from the store and its main queue.
pub(crate) async fn gate_of(
    office: &Office,
    group: &Variant,
    counts: &GroupCounts,
    occasion: &Occasion<'_>,
) -> Result<Gate, OfficeError> {
    let deployment = deployment_of(office, group).await?;
    let dry_run = match occasion.fix.and_then(|fix| fix.transform.as_ref()) {
        Some(named) => office.store.transform(&group.id, named.version).await?.and_then(|facts| facts.dry_run),
        None => None,
    };
    let facts = GateFacts {
        group: &group.id,
        class: group.classification.class,
        fix: occasion.fix,
        last_died_at: counts.last_died_at.filter(|_| occasion.deaths_count),
        deployment: deployment.as_ref(),
        dry_run: dry_run.as_ref(),
        filter: occasion.filter,
        letters: occasion.letters,
        left_out: occasion.left_out,
        unchecked: occasion.unchecked,
        queue: occasion.queue.clone(),
        approver: occasion.approver,
        waivers: occasion.waivers,
        four_eyes: office.policy.four_eyes(occasion.message_types),
    };
    Ok(evaluate(&facts, &office.policy.gate, office.now()))
}

/// The latest deployment of the group's consumer: the one that its letters name, or the only one that the platform has
/// attached to their main queue.
pub(crate) async fn deployment_of(office: &Office, group: &Variant) -> Result<Option<Deployment>, OfficeError> {
    if let Some(service) = &group.consumer
        && let Some(deployment) = office.store.deployment(service).await?
    {
        return Ok(Some(deployment));
    }
    let Some(queue) = &group.main_queue else { return Ok(None) };
    match office.store.attached(queue).await?.as_ref().and_then(Attached::only_service) {
        Some(service) => Ok(office.store.deployment(service).await?),
        None => Ok(None),
    }
}

/// Whether the main queue can take letters. A queue that gives no answer at all is an error: it says nothing.
pub(crate) async fn main_queue_fact(office: &Office, queue: Option<&QueueArn>) -> Result<QueueFact, OfficeError> {
    let Some(queue) = queue else {
        return Ok(QueueFact::NotReady("The letters do not say which queue they died on.".into()));
    };
    let name = queue.name();
    Ok(match office.queue.attributes(queue).await {
        Ok(attributes) if attributes.fifo != queue.is_fifo() => {
            QueueFact::NotReady(format!("{name} has changed its type (FIFO or standard)."))
        }
        Ok(attributes) => {
            let attached = office.store.attached(queue).await?;
            match attached.and_then(|attached| attached.why_unattended(office.now())) {
                Some(why) => QueueFact::NotReady(why),
                None => QueueFact::Ready(format!(
                    "{name} answers; {} waiting, {} being processed",
                    attributes.visible_count, attributes.in_flight_count
                )),
            }
        }
        Err(QueueError::Missing { .. }) => QueueFact::NotReady(format!("{name} does not exist.")),
        Err(QueueError::Denied { .. }) => QueueFact::NotReady(format!("{name} does not let us in.")),
        Err(error) => return Err(error.into()),
    })
}

/// The same for a page and for an approval: there no answer is a reason not to go on.
pub(crate) async fn main_queue_words(office: &Office, queue: Option<&QueueArn>) -> QueueFact {
    main_queue_fact(office, queue).await.unwrap_or_else(|error| {
        tracing::warn!(error = %crate::error::chain(&error), "a main queue does not answer");
        QueueFact::NotReady("The main queue does not answer now.".into())
    })
}
