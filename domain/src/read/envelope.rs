//! Envelopes: the forms in which a letter carries its failure, and the wrappings around its message.
//!
//! A letter is opened from the outside in. At each layer one **carrier** may describe the failure and one **wrapping**
//! may contain the message. The content is the next layer, up to [`DEPTH_MAX`] layers. The tables in `forms` are the
//! whole recognition: rows are tried from the top, so their order is the priority. The last writer has the best
//! information and writes headers, so carriers in headers come before carriers in bodies.

pub mod attributes;
mod aws_events;
mod brokers;
mod celery;
mod cloudevents;
mod consumer;
mod context;
mod eventbridge;
mod facts;
mod failure;
mod forms;
mod kafka;
mod lambda;
mod layer;
mod masstransit;
mod nservicebus;
mod pointer;
mod pubsub;
mod record;
mod restored;
mod sidekiq;
mod sns;
mod step_functions;
mod team;
mod thrown;
mod unpack;
pub mod wrapper;

pub use facts::{Facts, NAME_BYTES_MAX, PRODUCER_VERSIONS, PRODUCERS, TENANTS};
pub use layer::Layer;
pub use pointer::PayloadLocation;

use super::json::Raw;
use crate::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE};
use crate::message::{Attributes, Content, DeadMessage};
use crate::reading::{EnvelopeKind, Replayability};
use alloc::borrow::Cow;
use alloc::format;
use forms::{CARRIERS, Form, WRAPPINGS};
use restored::Restored;
use unpack::{UNPACKED_BYTES_MAX, Unpacked};

/// The maximum number of opened layers. A compressed error envelope in SNS in SQS has four; real letters never exceed
/// eight.
pub const DEPTH_MAX: usize = 8;

/// The result of opening a letter.
pub struct Opened {
    /// The form in which it carries its failure.
    pub kind: EnvelopeKind,
    /// The facts of its layers; outer layers take precedence.
    pub facts: Facts,
    /// Whether the message has the consumer crate's stamp.
    pub is_stamped: bool,
    /// The original message, if the letter contains it.
    original: Option<Restored<'static>>,
    /// Name prefixes of the attributes that dead-lettering added to the message.
    added: &'static [&'static str],
}

/// What one form yields for one layer.
pub struct Opening<'a> {
    facts: Facts,
    inner: Inner<'a>,
    is_stamped: bool,
}

/// The content of a layer.
enum Inner<'a> {
    Nothing,
    /// The original message: the envelope was added when it died.
    Original(Restored<'a>),
    /// The payload of the message and its headers. The wrapping was added on sending, so it stays on replay.
    Payload {
        text: Cow<'a, str>,
        headers: Option<Raw<'a>>,
    },
}

impl<'a> Opening<'a> {
    fn facts(facts: Facts) -> Self {
        Self { facts, inner: Inner::Nothing, is_stamped: false }
    }

    fn original(facts: Facts, original: Option<Restored<'a>>) -> Self {
        Self { facts, inner: original.map_or(Inner::Nothing, Inner::Original), is_stamped: false }
    }

    fn payload(facts: Facts, text: Option<Cow<'a, str>>, headers: Option<Raw<'a>>) -> Self {
        let inner = text.map_or(Inner::Nothing, |text| Inner::Payload { text, headers });
        Self { facts, inner, is_stamped: false }
    }
}

/// Opens a letter and calls `read` with the innermost layer, which contains type and impact.
pub fn open(message: &DeadMessage, read: &mut dyn FnMut(&Layer<'_>, &mut Facts)) -> Opened {
    let redriven = message.system.source_queue.is_some();
    let plain = if redriven { EnvelopeKind::SqsRedrive } else { EnvelopeKind::Plain };
    let mut opened = Opened { kind: plain, facts: Facts::default(), is_stamped: false, original: None, added: &[] };
    let mut opener = Opener { opened: &mut opened, carried: false, stays: false, left_bytes: UNPACKED_BYTES_MAX, read };
    opener.descend(&Layer::outermost(message), DEPTH_MAX);
    if redriven && !opened.is_stamped {
        // A redrive policy moves a message untouched. Any envelope was on the main queue already, and that queue's
        // consumer expects it.
        opened.original = None;
        opened.added = &[];
        let facts = &mut opened.facts;
        (facts.original_message_id, facts.main_queue) = (None, None);
        facts.not_replayable.take_if(|reason| !matches!(reason, Replayability::Pointer { .. }));
        facts.remarks.retain(|remark| remark != team::DOUBTFUL);
        facts.original_at = None;
        if !facts.failure.is_empty() {
            facts.remarks.push(CARRIED_BEFORE.into());
        }
    }
    if let Some(original) = &mut opened.original {
        opened.facts.remarks.append(&mut original.remarks);
    }
    if !opened.is_stamped && message.content.attributes.contains_key(FAILURE_ATTRIBUTE) {
        opened.facts.remarks.push(consumer::GARBLED.into());
    }
    opened
}

/// The remark on an error that a redriven message carries.
pub const CARRIED_BEFORE: &str =
    "It already carried this failure on the main queue. SQS does not record why it failed there.";

const ENVELOPE_INSIDE: &str =
    "The original message is an error envelope, too. It is sent back as it was on the main queue.";

struct Opener<'o> {
    opened: &'o mut Opened,
    /// Whether a carrier was found.
    carried: bool,
    /// Whether the letter is sent back as it is, because the first carrier lies next to the message, not around it.
    stays: bool,
    /// The remaining allowance for unpacking, bytes.
    left_bytes: usize,
    read: &'o mut dyn FnMut(&Layer<'_>, &mut Facts),
}

impl Opener<'_> {
    fn descend(&mut self, layer: &Layer<'_>, depth: usize) {
        let mut inner = Inner::Nothing;
        if let Some((form, opening)) = first_of(CARRIERS, layer) {
            inner = self.carrier(form, opening, layer);
        }
        if matches!(inner, Inner::Nothing)
            && let Some((form, opening)) = first_of(WRAPPINGS, layer)
        {
            // A wrapping carries no failure: it is the letter's form only if there is no carrier.
            if self.opened.kind == EnvelopeKind::Plain {
                self.opened.kind = form.kind;
            }
            if self.carried {
                self.opened.facts.fill(opening.facts);
            } else {
                self.opened.facts.fill_all(opening.facts);
            }
            inner = opening.inner;
        }
        let mut whole = layer.whole;
        if matches!(inner, Inner::Nothing)
            && let Some(unpacked) = self.unpacked(layer)
        {
            whole &= !unpacked.cut;
            inner = Inner::Payload { text: Cow::Owned(unpacked.text), headers: None };
        }
        let (text, headers) = match inner {
            Inner::Nothing => return (self.read)(layer, &mut self.opened.facts),
            Inner::Original(original) => {
                let body = original.body.clone();
                self.found(original);
                (body, None)
            }
            Inner::Payload { text, headers } => (text, headers),
        };
        let Some(depth) = depth.checked_sub(1) else {
            let remark = format!("It is wrapped more than {DEPTH_MAX} times. The inner layers were not opened.");
            self.opened.facts.remarks.push(remark);
            return (self.read)(layer, &mut self.opened.facts);
        };
        self.descend(&Layer::inside(&text, headers, layer, whole), depth);
    }

    fn carrier<'a>(&mut self, form: &'static Form, opening: Opening<'a>, layer: &Layer<'a>) -> Inner<'a> {
        if self.carried {
            self.opened.facts.fill(opening.facts);
            return opening.inner;
        }
        self.carried = true;
        self.stays = !matches!(opening.inner, Inner::Original(_));
        self.opened.kind = form.kind;
        // A wrapping around a carrier wraps the report of the death, not the message.
        let remarks = core::mem::take(&mut self.opened.facts.remarks);
        self.opened.facts = Facts { remarks, ..Facts::default() };
        if layer.outermost {
            self.opened.added = form.adds;
            self.opened.is_stamped = opening.is_stamped;
            // Two writers each left a failure: the table decides which one counts, and a remark mentions the other.
            let others = CARRIERS.iter().filter(|other| other.kind != form.kind && other.shows(layer));
            for other in others.filter(|other| (other.open)(layer).is_some()) {
                let remark = format!("It also carries {}, which was ignored.", other.name);
                self.opened.facts.remarks.push(remark);
            }
        }
        self.opened.facts.fill_all(opening.facts);
        // An error envelope of a team that stays.
        if form.kind == EnvelopeKind::BodyEnvelope && self.stays && self.opened.facts.not_replayable.is_none() {
            self.opened.facts.original_at = wrapper::original_at(layer);
        }
        opening.inner
    }

    /// Keeps the outermost original: what was inside it was on the main queue as well.
    fn found(&mut self, original: Restored<'_>) {
        match &mut self.opened.original {
            _ if self.stays => {}
            Some(outer) => outer.remarks.push(ENVELOPE_INSIDE.into()),
            none => *none = Some(original.into_owned()),
        }
    }

    /// Unpacks a JSON string, or base64, compressed or not.
    fn unpacked(&mut self, layer: &Layer<'_>) -> Option<Unpacked> {
        let text = layer.text.trim_start();
        match text.bytes().next()? {
            b'{' | b'[' => None,
            b'"' => Some(Unpacked { text: Raw::new(text).as_string()?, cut: false }),
            _ => {
                let unpacked = unpack::text(text, &mut self.left_bytes)?;
                if unpacked.cut {
                    let remark = format!(
                        "The payload unpacks to more than {UNPACKED_BYTES_MAX} bytes. Only its beginning was read."
                    );
                    self.opened.facts.remarks.push(remark);
                }
                Some(unpacked)
            }
        }
    }
}

/// Returns the first form of the table with matching signs that can be read.
fn first_of<'a>(table: &'static [Form], layer: &Layer<'a>) -> Option<(&'static Form, Opening<'a>)> {
    table.iter().filter(|form| form.shows(layer)).find_map(|form| Some((form, (form.open)(layer)?)))
}

impl Opened {
    /// Returns the message as it was on the main queue, without anything that dead-lettering added.
    pub fn original_content(&mut self, message: &DeadMessage) -> Content {
        let added = |name: &str| {
            [FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE].contains(&name)
                || self.added.iter().any(|prefix| name.starts_with(prefix))
        };
        let kept = |attributes: &Attributes| -> Attributes {
            attributes.iter().filter(|(name, _)| !added(name)).map(|(name, a)| (name.clone(), a.clone())).collect()
        };
        let Content { body, attributes, message_group_id, trace_header } = &message.content;
        let Some(original) = self.original.take() else {
            return Content {
                body: body.clone(),
                attributes: kept(attributes),
                message_group_id: message_group_id.clone(),
                trace_header: trace_header.clone(),
            };
        };
        // A record without a group had none; on a FIFO queue, nothing can be sent without one.
        let outer_group = || message_group_id.clone().filter(|_| original.attributes.is_none() || message.is_fifo());
        Content {
            attributes: kept(original.attributes.as_ref().unwrap_or(attributes)),
            message_group_id: original.message_group_id.clone().or_else(outer_group),
            trace_header: original.trace_header.or_else(|| trace_header.clone()),
            body: original.body.into_owned(),
        }
    }
}
